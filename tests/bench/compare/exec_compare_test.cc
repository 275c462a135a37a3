#include "bench/compare/exec_compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "bench/compare/child_program.h"
#include "bench/executors/busy_wait_executor.h"
#include "cache/paged_cache.h"
#include "results/record/json_writer.h"
#include "tests/bench/engine/fixed_executor.h"
#include "tests/results/example_results.h"

// Two programs turn by turn. The programs are scripts that copy a results file to where they are
// told to.

namespace kvbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ExecCompareTest : public testing::Test {
 protected:
  ExecCompareTest()
      : dir_(fs::path(testing::TempDir()) /
             (std::string("kvbench_exec_") +
              testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  ~ExecCompareTest() override { fs::remove_all(dir_); }

  /// An example run that takes `factor` times as long, all of its steps alike.
  static ResultsFile Results(double factor) {
    ResultsFile file = ExampleResults();
    file.runs = {ExampleRun("paged")};
    RunRecord& run = file.runs[0];
    run.duration *= factor;
    run.output_throughput = 8'262 / run.duration;
    for (int i = 1; i <= 100; ++i) {
      run.timeline.push_back({.time_s = run.duration * i / 100, .free = 3'936});
    }
    return file;
  }
  std::string Script(const std::string& name, const std::string& text) const {
    const fs::path path = dir_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << text;
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  /// A program that says where it was called, and has that result.
  std::string Program(const std::string& name, const ResultsFile& file, int exit_code = 0) const {
    std::ofstream(dir_ / (name + ".json")) << ResultsJson(file);
    return Script(name, "echo " + name + " \"$1\" \"$2\" \"$3\" >> '" + (dir_ / "calls").string() +
                            "'\necho noise\ncp '" + (dir_ / (name + ".json")).string() +
                            "' \"$4\"\nexit " + std::to_string(exit_code) + "\n");
  }
  Comparison Compare(const std::string& base, const std::string& next, int64_t budget = 60) const {
    return CompareByExec({.base = base,
                          .next = next,
                          .suite = "a suite",
                          .compare = {},
                          .budget = budget,
                          .on_pair = {}});
  }
  std::vector<std::string> Calls() const {
    std::vector<std::string> lines;
    std::ifstream file(dir_ / "calls");
    for (std::string line; std::getline(file, line);) {
      lines.push_back(line);
    }
    return lines;
  }

  fs::path dir_;
};

TEST_F(ExecCompareTest, EqualProgramsTakeTurnsAndAreTheSame) {
  const Comparison comparison = Compare(Program("a", Results(1)), Program("b", Results(1.01)));
  ASSERT_EQ(comparison.runs.size(), 1);
  EXPECT_EQ(comparison.runs[0].verdict, Verdict::kSame);
  EXPECT_EQ(comparison.runs[0].timings[0].why, "10 pairs");
  EXPECT_NEAR(*comparison.runs[0].timings[0].slowdown, 1.01, 1e-9);
  EXPECT_EQ(comparison.notes[0], "10 pairs of at most 60: every run has a verdict");
  const std::vector<std::string> calls = Calls();
  ASSERT_EQ(calls.size(), 20);
  for (size_t i = 0; i < calls.size(); ++i) {
    const bool base = i % 4 == 0 || i % 4 == 3;
    EXPECT_EQ(calls[i], std::string(base ? "a" : "b") + " run a suite --out");
  }
}

TEST_F(ExecCompareTest, SlowerAndFasterAreFound) {
  const std::string a = Program("a", Results(1));
  const std::string b = Program("b", Results(1.1));
  EXPECT_EQ(Compare(a, b).runs[0].verdict, Verdict::kSlower);
  EXPECT_TRUE(Compare(a, b).failed());
  EXPECT_EQ(Compare(b, a).runs[0].verdict, Verdict::kFaster);
}

TEST_F(ExecCompareTest, ASmallBudgetSaysThatItIsSpent) {
  const Comparison comparison = Compare(Program("a", Results(1)), Program("b", Results(1.1)), 2);
  EXPECT_EQ(comparison.runs[0].verdict, Verdict::kUndecided);
  EXPECT_EQ(comparison.notes[0], "2 pairs of at most 2: the budget of 2 pairs is spent");
  EXPECT_EQ(comparison.runs[0].timings[0].why, "needs 6 pairs, has 2");
}

TEST_F(ExecCompareTest, AChangedCountNeedsOnePair) {
  ResultsFile changed = Results(1);
  changed.runs[0].preemptions += 1;
  const Comparison comparison = Compare(Program("a", Results(1)), Program("b", changed));
  EXPECT_EQ(comparison.runs[0].verdict, Verdict::kChanged);
  EXPECT_EQ(comparison.runs[0].changes[0].name, "preemptions");
  EXPECT_EQ(Calls().size(), 2);
}

TEST_F(ExecCompareTest, AFailedVerificationIsAResultAndAnotherFailureIsNot) {
  ResultsFile wrong = Results(1);
  wrong.runs[0].verification->passed = false;
  EXPECT_EQ(Compare(Program("a", Results(1)), Program("b", wrong, 1)).runs[0].verdict,
            Verdict::kChanged);
  const auto message = [&](const std::string& program) {
    try {
      Compare(program, program);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_THAT(message(Script("bad", "echo no such suite >&2; exit 2")),
              HasSubstr("failed with exit code 2: no such suite"));
  EXPECT_THAT(message(Script("silent", "exit 0")), HasSubstr("cannot read"));
  EXPECT_THAT(message(Script("killed", "kill -9 $$")), HasSubstr("exit code 137"));
  EXPECT_THAT(message("/nowhere/program"), HasSubstr("cannot run"));
}

TEST_F(ExecCompareTest, ProgramsWithoutACommonRunAreRefused) {
  ResultsFile other = Results(1);
  other.runs[0].label += " seed=2";
  try {
    Compare(Program("a", Results(1)), Program("b", other));
    ADD_FAILURE();
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("have no run of a suite in common"));
  }
  EXPECT_EQ(Calls().size(), 2);
}

TEST_F(ExecCompareTest, InterruptedTurnsEndIt) {
  const std::string program = Script("interrupted", "exit 130");
  EXPECT_THAT(Compare(program, program).notes[0], HasSubstr("0 pairs of at most 60: interrupted"));
  const Comparison stopped = CompareByExec({.base = Program("a", Results(1)),
                                            .next = Program("b", Results(1)),
                                            .suite = "s",
                                            .compare = {},
                                            .on_pair = [](int64_t pairs) { return pairs < 3; }});
  EXPECT_THAT(stopped.notes[0], HasSubstr("3 pairs of at most 60: interrupted"));
  EXPECT_EQ(stopped.runs[0].verdict, Verdict::kUndecided);
}

TEST(StretchesTest, CoverTheTimeline) {
  std::vector<double> ends;
  for (int i = 1; i <= 100; ++i) {
    ends.push_back(0.01 * i * i);
  }
  const std::vector<double> parts = Stretches(ends, 64);
  ASSERT_EQ(parts.size(), 64);
  double sum = 0;
  for (const double part : parts) {
    EXPECT_GT(part, 0);
    sum += part;
  }
  EXPECT_NEAR(sum, ends.back(), 1e-9);
  EXPECT_EQ(Stretches({1, 2, 3}, 64).size(), 0);
  EXPECT_EQ(Stretches(std::vector<double>(100, 1.0), 64).size(), 0);
  EXPECT_EQ(Stretches({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 64).size(), 10);
}

TEST(BusyWaitTest, StepsTakeThatMuchLonger) {
  // An executor whose steps take 20 ms by its own word: the wait is real, and added.
  FixedExecutor fixed(20'000'000'000);
  BusyWaitExecutor slower(fixed, 0.5);
  const PagedCache cache(64, 16);
  const auto begin = std::chrono::steady_clock::now();
  const StepTimes times = slower.Run(StepBatch(), cache, 1);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GE(seconds, 0.010);
  EXPECT_GE(times.first_ps, 30'000'000'000);
}

}  // namespace
}  // namespace kvbench
