#include "results/table/predictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/record/label.h"
#include "tests/results/example_results.h"

namespace kvbench {
namespace {

using testing::HasSubstr;

RunRecord Modelled(RunRecord run, double factor) {
  run.executor.kind = "modelled";
  run.executor.hardware = "cpu";
  run.executor.calibration = "measured";
  run.executor.tensor_parallel_size = 1;
  run.executor.threads.reset();
  *run.output_throughput *= factor;
  *run.tpot["mean"] /= factor;
  run.label = MakeLabel(run);
  return run;
}

TEST(PredictionsTest, PairsRunsThatDifferInTheExecutorAlone) {
  ResultsFile file;
  file.runs = {ExampleRun("paged"), ExampleRun("contiguous-max")};
  EXPECT_EQ(RenderPredictions(file), "");
  file.runs.push_back(Modelled(file.runs[1], 0.8));
  file.runs.push_back(Modelled(file.runs[0], 1.25));
  RunRecord other = Modelled(file.runs[0], 2);
  other.limits.max_num_seqs = 7;
  file.runs.push_back(other);
  RunRecord repeated = Modelled(file.runs[0], 2);
  repeated.repetition = 1;
  file.runs.push_back(repeated);
  const std::vector<Prediction> predictions = FindPredictions(file);
  ASSERT_EQ(predictions.size(), 2U);
  EXPECT_EQ(predictions[0].measured, &file.runs[0]);
  EXPECT_EQ(predictions[0].modelled, &file.runs[3]);
  EXPECT_NEAR(*predictions[0].ThroughputError(), 0.25, 1e-12);
  EXPECT_NEAR(*predictions[0].TpotError(), -0.2, 1e-12);
  EXPECT_NEAR(*predictions[1].ThroughputError(), -0.2, 1e-12);
  const std::string table = RenderPredictions(file);
  EXPECT_THAT(table, HasSubstr("paged/16"));
  EXPECT_THAT(table, HasSubstr("+25.0 %"));
  EXPECT_THAT(table, HasSubstr("output throughput: median error 22.5 %, largest 25.0 %"));
}

TEST(PredictionsTest, WhatIsMissingIsADash) {
  ResultsFile file;
  file.runs = {ExampleRun("paged")};
  file.runs.push_back(Modelled(file.runs[0], 1));
  file.runs[0].output_throughput.reset();
  file.runs[1].tpot["mean"].reset();
  EXPECT_FALSE(FindPredictions(file)[0].ThroughputError());
  EXPECT_FALSE(FindPredictions(file)[0].TpotError());
  EXPECT_THAT(RenderPredictions(file), HasSubstr(" - "));
}

}  // namespace
}  // namespace kvbench
