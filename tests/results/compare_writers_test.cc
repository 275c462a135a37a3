#include "results/compare_writers/compare_writers.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/results/compare_case.h"

namespace kvbench {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

/// One run of each verdict, with names that need escaping.
CompareReport Everything() {
  CompareReport report;
  Comparison& comparison = report.comparisons.emplace_back();
  comparison.base = "base <1>.json";
  comparison.next = "new & \"2\".json";
  comparison.notes = {"base <1>.json is marked incomplete: runs are missing"};
  const auto add = [&](const std::string& design, Verdict verdict) -> RunComparison& {
    RunComparison& run = comparison.runs.emplace_back();
    run.label = "model=a|b design=" + design + " block-size=16";
    run.verdict = verdict;
    return run;
  };
  const auto timing = [](double slowdown, double width, Verdict verdict) {
    TimingComparison t;
    t.metric = "output_throughput";
    t.base_count = t.next_count = 9;
    t.base_median = 5'929.4;
    t.next_median = 5'929.4 / slowdown;
    t.slowdown = slowdown;
    t.interval = Interval{slowdown - width, slowdown + width};
    t.p_value = 0.00041;
    t.verdict = verdict;
    return t;
  };
  add("same", Verdict::kSame).timings.push_back(timing(1.002, 0.01, Verdict::kSame));
  add("faster", Verdict::kFaster).timings.push_back(timing(0.9, 0.01, Verdict::kFaster));
  add("slower", Verdict::kSlower).timings.push_back(timing(1.12, 0.02, Verdict::kSlower));
  RunComparison& changed = add("changed", Verdict::kChanged);
  changed.changes = {{"kv.peak_live_slots", 0, "1968", "1970"},
                     {"executor.hardware", 1, "\"<a>\"", "-"},
                     {"goodput", 0, "null", "1.5"},
                     {"steps", 0, "1000", "1001"}};
  changed.changes_in_all = 24;
  changed.timings.push_back(timing(1.3, 0.1, Verdict::kSlower));
  TimingComparison few = timing(1.1, 0, Verdict::kUndecided);
  few.interval.reset();
  few.p_value.reset();
  few.why = "needs 9 repetitions, has 3";
  add("undecided", Verdict::kUndecided).timings.push_back(few);
  add("gone", Verdict::kOnlyInBase);
  add("come", Verdict::kOnlyInNew).notes = {"@somebody `code` *bold*\nnext line"};
  NameRuns(comparison);
  return report;
}

TEST(CompareWriters, GoldenFiles) {
  ExpectGolden(CompareText(Everything()), "compare.txt");
  ExpectGolden(CompareMarkdown(Everything()), "compare.md");
  ExpectGolden(CompareJunit(Everything()), "compare.xml");
  ExpectGolden(CompareGithub(Everything()), "compare_github.txt");
  ExpectGolden(CompareJson(Everything()), "compare.json");
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
  EXPECT_TRUE(Valid(CompareJunit(Everything()))) << Text(dir_ / "why");
  EXPECT_TRUE(Valid(CompareJunit({.threshold = 0.05, .comparisons = {}})));
  CompareReport weird = Everything();
  weird.comparisons[0].runs[0].label = "\x01 \xff \xc3\xa9 ]]> &amp; <!--";
  weird.comparisons[0].runs[2].notes = {"\x08\t\n]]>"};
  EXPECT_TRUE(Valid(CompareJunit(weird))) << Text(dir_ / "why");
}

TEST_F(JunitTest, TheSchemaCanRefuse) {
  const std::string xml = CompareJunit(Everything());
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
  const std::string xml = CompareJunit(Everything());
  EXPECT_THAT(xml, HasSubstr("tests=\"7\" failures=\"2\" errors=\"0\" skipped=\"3\""));
}

TEST(CompareWriters, JsonHasEverything) {
  const Json json = Json::parse(CompareJson(Everything()));
  EXPECT_EQ(json["failed"], true);
  const Json& comparison = json["comparisons"][0];
  EXPECT_EQ(comparison["summary"]["only_in_base"], 1);
  EXPECT_EQ(comparison["runs"][3]["changes"][1]["base"], "<a>");
  EXPECT_EQ(comparison["runs"][3]["changes"][1]["new"], nullptr);
  EXPECT_EQ(comparison["runs"][3]["changed_fields"], 24);
  EXPECT_EQ(comparison["runs"][2]["timings"][0]["interval_low"], 1.1);
}

TEST(CompareWriters, ManyRunsAreSummedUp) {
  CompareReport report = Everything();
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
