// Equal steps taken at once give what single steps give, and these, in which every sequence is
// looked at by itself, are the slow and obvious way.
#include <gtest/gtest.h>

#include <sstream>

#include "bench/run/run_once.h"
#include "bench/run/run_plan.h"
#include "bench/run/run_spec.h"
#include "results/record/json_writer.h"

namespace kvbench {
namespace {

std::string Json(RunRecord record) {
  ResultsFile file;
  file.runs.push_back(std::move(record));
  std::ostringstream text;
  WriteResults(file, text);
  return text.str();
}

/// Runs everything both ways and compares all of the records, with and without --detailed.
int64_t ExpectSame(const AxisValues& axes) {
  int64_t preemptions = 0;
  for (const PlannedRun& run : PlanRuns(ExpandRuns(axes))) {
    for (const bool detailed : {false, true}) {
      const std::optional<RunRecord> fast = RunOnce(run, {.detailed = detailed});
      const std::optional<RunRecord> slow =
          RunOnce(run, {.detailed = detailed, .step_by_step = true});
      const std::string both_ways[] = {Json(*fast), Json(*slow)};
      EXPECT_EQ(both_ways[0], both_ways[1]) << fast->label << (detailed ? " detailed" : "");
      if (both_ways[0] != both_ways[1]) {
        return 0;
      }
      if (!fast->window.from_s) {
        EXPECT_EQ(fast->completed + fast->rejected, fast->trace.num_requests);
      }
      preemptions += fast->preemptions;
    }
  }
  return preemptions;
}

AxisValues Common() {
  return {{"executor", {"modelled"}}, {"hardware", {"a100-sxm4-40gb"}}, {"model", {"opt-13b"}},
          {"lengths", {"sharegpt"}},  {"requests", {"1000"}},           {"seed", {"3"}}};
}

TEST(EqualStepsTest, EveryDesignSchedulerAndBlockSizeGivesTheSameRecord) {
  AxisValues axes = Common();
  axes["design"] = {"contiguous-max", "contiguous-pow2", "contiguous-oracle", "paged"};
  axes["block-size"] = {"1", "16", "128"};
  axes["scheduler"] = {"continuous", "static", "faster-transformer"};
  axes["chunked-prefill"] = {"on", "off"};
  axes["rate"] = {"2.5"};
  EXPECT_GT(ExpectSame(axes), 1000);
}

TEST(EqualStepsTest, SoDoDesignsThatMove) {
  AxisValues axes = Common();
  axes["design"] = {"contiguous-growing"};
  axes["growth"] = {"double", "concat"};
  axes["chunked-prefill"] = {"on", "off"};
  axes["rate"] = {"0.5", "2.5"};
  axes["requests"] = {"300"};
  axes["window"] = {"..", "50s..200s"};
  EXPECT_GT(ExpectSame(axes), 100);
}

TEST(EqualStepsTest, SoDoesDesignNone) {
  AxisValues axes = Common();
  axes["design"] = {"none"};
  axes["scheduler"] = {"continuous", "static"};
  axes["rate"] = {"0.05"};
  axes["requests"] = {"100"};
  ExpectSame(axes);
}

TEST(EqualStepsTest, SoDoWindowsClosedLoopsCapsAndBudgetsThatCutRunningSequencesOff) {
  AxisValues axes = Common();
  axes["design"] = {"paged", "contiguous-oracle"};
  axes["kv-memory"] = {"6GiB"};
  axes["window"] = {"..", "50s..200s"};
  axes["max-concurrency"] = {"0", "25"};
  axes["max-num-seqs"] = {"8", "256"};
  // Fewer tokens than may run: some have to stand still.
  axes["max-num-batched-tokens"] = {"7", "2560"};
  axes["rate"] = {"4"};
  axes["requests"] = {"300"};
  EXPECT_GT(ExpectSame(axes), 100);
}

TEST(EqualStepsTest, SoDoOtherArrivalsAndModels) {
  AxisValues axes = Common();
  axes["design"] = {"paged", "contiguous-pow2"};
  axes["arrivals"] = {"gamma:cv=3", "constant", "all-at-once"};
  axes["rate"] = {"30"};
  axes["lengths"] = {"alpaca", "azure-code"};
  axes["max-model-len"] = {"2048", "8192"};
  ExpectSame(axes);
  axes = Common();
  axes["hardware"] = {"h100-sxm"};
  axes["model"] = {"mixtral-8x7b"};
  axes["tensor-parallel-size"] = {"2"};
  axes["design"] = {"paged"};
  axes["rate"] = {"20"};
  ExpectSame(axes);
}

}  // namespace
}  // namespace kvbench
