#include "results/compare/writers/compare_writers.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/results/compare/compare_case.h"
#include "tests/results/compare/example_comparison.h"

namespace kvbench {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

TEST(CompareWriters, GoldenFiles) {
  ExpectGolden(CompareText(ExampleComparison()), "compare.txt");
  ExpectGolden(CompareMarkdown(ExampleComparison()), "compare.md");
  ExpectGolden(CompareJunit(ExampleComparison()), "compare.xml");
  ExpectGolden(CompareGithub(ExampleComparison()), "compare_github.txt");
  ExpectGolden(CompareJson(ExampleComparison()), "compare.json");
}

class JunitTest : public CompareCase {
 protected:
  void SetUp() override {
    if (std::string(KVBENCH_XMLLINT).empty()) {
      GTEST_SKIP() << "no xmllint was found when the build was configured; it is in the Debian "
                      "package libxml2-utils";
    }
  }
  bool Valid(const std::string& xml) const {
    const std::string command = std::string(KVBENCH_XMLLINT) + " --noout --nonet --schema '" +
                                KVBENCH_SOURCE_DIR + "/tests/data/junit.xsd' '" +
                                Write("junit.xml", xml) + "' 2>'" + (dir_ / "why").string() + "'";
    return std::system(command.c_str()) == 0;
  }
};

TEST_F(JunitTest, IsValidAgainstTheSchema) {
  EXPECT_TRUE(Valid(CompareJunit(ExampleComparison()))) << Text(dir_ / "why");
  EXPECT_TRUE(Valid(CompareJunit({.threshold = 0.05, .comparisons = {}})));
  CompareReport weird = ExampleComparison();
  weird.comparisons[0].runs[0].label = "\x01 \xff \xc3\xa9 ]]> &amp; <!--";
  weird.comparisons[0].runs[2].notes = {"\x08\t\n]]>"};
  EXPECT_TRUE(Valid(CompareJunit(weird))) << Text(dir_ / "why");
}

TEST_F(JunitTest, TheSchemaCanRefuse) {
  const std::string xml = CompareJunit(ExampleComparison());
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = xml;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_FALSE(Valid(broken("tests=\"7\"", "tests=\"seven\"")));
  EXPECT_FALSE(Valid(broken(" name=\"kvbench compare\"", " title=\"kvbench compare\"")));
  EXPECT_FALSE(Valid(broken("<skipped", "<ignored")));
  EXPECT_FALSE(Valid(broken("classname=\"kvbench.compare\" ", "")));
  EXPECT_FALSE(Valid(broken("</testsuites>", "")));
}

TEST(CompareWriters, JunitCountsWhatItHolds) {
  const std::string xml = CompareJunit(ExampleComparison());
  EXPECT_THAT(xml, HasSubstr("tests=\"7\" failures=\"2\" errors=\"0\" skipped=\"3\""));
}

TEST(CompareWriters, JsonHasEverything) {
  const Json json = Json::parse(CompareJson(ExampleComparison()));
  EXPECT_EQ(json["failed"], true);
  const Json& comparison = json["comparisons"][0];
  EXPECT_EQ(comparison["summary"]["only_in_base"], 1);
  EXPECT_EQ(comparison["runs"][3]["changes"][1]["base"], "<a>");
  EXPECT_EQ(comparison["runs"][3]["changes"][1]["new"], nullptr);
  EXPECT_EQ(comparison["runs"][3]["changed_fields"], 24);
  EXPECT_EQ(comparison["runs"][2]["timings"][0]["interval_low"], 1.1);
}

TEST(CompareWriters, ManyRunsAreSummedUp) {
  CompareReport report = ExampleComparison();
  std::vector<RunComparison>& runs = report.comparisons[0].runs;
  runs.resize(5'000, runs[0]);
  const std::string text = CompareText(report);
  EXPECT_THAT(text, HasSubstr("4,994 same"));
  EXPECT_LT(text.size(), 4'000U);
  runs.resize(10'000, runs[2]);
  EXPECT_LT(CompareMarkdown(report).size(), 200'000U);
  EXPECT_THAT(CompareMarkdown(report), HasSubstr("more runs are not listed"));
}

TEST(CompareWriters, AreFoundByName) {
  EXPECT_EQ(FindCompareWriter("junit"), &CompareJunit);
  EXPECT_EQ(FindCompareWriter("html"), nullptr);
}

}  // namespace
}  // namespace kvbench
