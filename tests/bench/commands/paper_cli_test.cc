// `kvbench paper` and rate searches as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/bench/commands/program.h"

namespace kvbench {
namespace paper_cli {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

std::string TestFile(const char* ending) {
  return testing::TempDir() + "/kvbench_paper_" +
         testing::UnitTest::GetInstance()->current_test_info()->name() + ending;
}

/// Runs in the folder for temporary files, where examples may write.
Outcome Kvbench(const std::string& arguments) { return RunKvbench(testing::TempDir(), arguments); }

TEST(PaperCliTest, AFigureBesideThePaper) {
  const Outcome outcome = Kvbench("paper fig2");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("== Figure 2"));
  EXPECT_THAT(outcome.out, ContainsRegex("paged: token states +96\\.[0-9] +0\\.1 +96\\.3 .*holds"));
  EXPECT_THAT(outcome.err, HasSubstr("paper/fig2: 80 of 80 runs"));
  EXPECT_THAT(outcome.err, HasSubstr("13 rows are within their tolerance, none outside"));
}

TEST(PaperCliTest, TheSameWithAnyNumberOfJobs) {
  const Outcome one = Kvbench("paper fig2 --seeds 3 --jobs 1 --format csv");
  const Outcome four = Kvbench("paper fig2 --seeds 3 --jobs 4 --format csv");
  EXPECT_EQ(one.out, four.out);
  EXPECT_EQ(one.code, four.code);
}

// One seed of 900 s is not what the tolerances are for: the command says what lies outside.
TEST(PaperCliTest, OutsideATolerance) {
  const Outcome outcome = Kvbench("paper fig2 --seeds 1");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("MISS"));
  EXPECT_THAT(outcome.err, HasSubstr("outside its tolerance: fig2, contiguous-max"));
}

TEST(PaperCliTest, FormatsAndSeveralFigures) {
  const Outcome csv = Kvbench("paper table1 fig2 --seeds 2 --format csv");
  std::istringstream lines(csv.out);
  int64_t rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    EXPECT_THAT(line, AllOf(ContainsRegex("^(section|table1|fig2),"), ContainsRegex("[^ ]$|,$")));
  }
  EXPECT_EQ(rows, 1 + 12 + 13);
  EXPECT_THAT(Kvbench("paper table1 --format markdown").out,
              HasSubstr("| opt-66b: blocks of 16 slots | 624 |  | 624 | 0 | exact | holds |"));
  EXPECT_THAT(Kvbench("paper table1 --format latex").out,
              AllOf(HasSubstr("\\begin{tabular}{lrrrrrl}"), HasSubstr("\\end{tabular}")));
}

TEST(PaperCliTest, OutIsJson) {
  const std::string path = TestFile(".json");
  const Outcome outcome = Kvbench("paper fig2 --seeds 2 --out '" + path + "'");
  const auto json = nlohmann::json::parse(ReadFile(path));
  EXPECT_EQ(json.at("format"), "kvbench paper 1");
  EXPECT_THAT(json.at("command").get<std::string>(), StartsWith("kvbench paper fig2"));
  EXPECT_EQ(json.at("sections").at(0).at("rows").size(), 13U);
  EXPECT_EQ(json.at("suites").at("paper/fig2").size(), 4U);
  std::filesystem::remove(path);
  EXPECT_EQ(Kvbench("paper table1 --out /no/such/folder/x.json").code, 2);
}

TEST(PaperCliTest, BadInputIsASentence) {
  const Outcome unknown = Kvbench("paper fig3");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("'fig3'"), HasSubstr("all, claims, table1, fig2")));
  EXPECT_EQ(Kvbench("paper table1 fig3").code, 2);
  EXPECT_EQ(Kvbench("paper table1 --format xml").code, 2);
  EXPECT_EQ(Kvbench("paper table1 --seeds 0").code, 2);
  EXPECT_EQ(Kvbench("paper table1 --jobs many").code, 2);
}

// The suites are plain ones, rate searches too.
TEST(PaperCliTest, SuitesRunByThemselves) {
  const Outcome plain = Kvbench("run paper/fig2 --seed 0");
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_THAT(plain.out, ContainsRegex("contiguous-pow2 .*\n.*contiguous-oracle"));
  const std::string path = TestFile(".json");
  const Outcome search = Kvbench("run paper/fig12 --seed 0 --duration 300s --out '" + path + "'");
  EXPECT_EQ(search.code, 0) << search.err;
  const auto runs = nlohmann::json::parse(ReadFile(path)).at("runs");
  std::filesystem::remove(path);
  ASSERT_EQ(runs.size(), 12U);
  for (const auto& run : runs) {
    EXPECT_THAT(run.at("notes").dump(), HasSubstr("is the highest rate with a mean normalized"));
    EXPECT_LE(run.at("normalized_latency_mean_s_per_token").get<double>(), 0.5);
  }
}

TEST(PaperCliTest, ARateSearchIsShownAndSaysWhereThereIsNoRate) {
  const std::string run =
      "run --executor modelled --hardware a100-sxm4-40gb --model opt-13b --lengths sharegpt "
      "--requests 50 --find-rate ";
  const Outcome found = Kvbench(run + "slo=0.9 --slo ttft=500ms,tpot=50ms");
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.out, ContainsRegex("trace +50 requests, [0-9.]+ a second"));
  EXPECT_THAT(found.out, HasSubstr("is the highest rate with 90 %"));
  EXPECT_THAT(found.err, ContainsRegex("at [0-9.]+/s, found in [0-9]+ runs"));
  const Outcome none = Kvbench(run + "normalized_latency=1ms");
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_THAT(none.out, HasSubstr("rate search: no rate holds"));
  const Outcome all = Kvbench(run + "normalized_latency=1h");
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("rate search: no highest rate"));
  const Outcome measured = Kvbench("run quick --find-rate normalized_latency=1s");
  EXPECT_EQ(measured.code, 2);
  EXPECT_THAT(measured.err, HasSubstr("--find-rate is modelled only"));
}

// Every example of --help runs, but for those of all figures where that takes minutes.
TEST(PaperCliTest, HelpHasExamplesThatWork) {
  const Outcome help = Kvbench("paper --help");
  EXPECT_EQ(help.code, 0);
  std::istringstream lines(help.out);
  int examples = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U) << line;
    if (!line.starts_with("  kvbench paper ")) {
      continue;
    }
    ++examples;
    const Outcome outcome = Kvbench(line.substr(line.find("paper ")));
    EXPECT_EQ(outcome.code, 0) << line;
    std::istringstream table(line.find("--format") == std::string::npos ? outcome.out : "");
    for (std::string row; std::getline(table, row);) {
      EXPECT_LE(row.size(), 100U) << row;
    }
  }
  EXPECT_EQ(examples, 3);
  std::filesystem::remove(testing::TempDir() + "/paper.json");
}

}  // namespace paper_cli
}  // namespace kvbench
