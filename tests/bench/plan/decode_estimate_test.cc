#include "bench/plan/decode_estimate.h"

#include <gtest/gtest.h>

#include "workloads/models/model_parameters.h"

namespace kvbench {
namespace {

TEST(DecodeEstimateTest, ReadsWeightsAndKvOnce) {
  const MemoryPlanInput input = {.model = LoadModel("llama-2-7b"),
                                 .hardware = LoadHardware("a100-sxm4-80gb")};
  const DecodeEstimate estimate = EstimateDecode(input, 4096, 8);
  EXPECT_EQ(estimate.weight_bytes, 2 * 6'738'415'616);
  EXPECT_EQ(estimate.kv_bytes, int64_t{16} << 30);
  EXPECT_DOUBLE_EQ(estimate.step_s, (2 * 6'738'415'616.0 + 17'179'869'184.0) / (0.8 * 2.039e12));
  EXPECT_DOUBLE_EQ(estimate.output_tokens_per_s, 8 / estimate.step_s);
  // 2 dollars an hour over the tokens of an hour.
  EXPECT_NEAR(CostOfMillionTokens(input, estimate, 2.0),
              2.0 * 1e6 / (3600 * estimate.output_tokens_per_s), 1e-12);
}

TEST(DecodeEstimateTest, DevicesShareTheBytesAndAreAllPaid) {
  MemoryPlanInput input = {.model = LoadModel("llama-2-70b"),
                           .hardware = LoadHardware("h100-sxm"),
                           .tensor_parallel = 4};
  const DecodeEstimate four = EstimateDecode(input, 4096, 16);
  EXPECT_EQ(four.weight_bytes, 2 * ParametersPerDevice(input.model, 4));
  EXPECT_EQ(four.kv_bytes, 16LL * 4096 * 327'680 / 4);
  input.tensor_parallel = 1;
  const DecodeEstimate one = EstimateDecode(input, 4096, 16);
  EXPECT_NEAR(one.step_s / four.step_s, 4, 0.01);
  const double one_cost = CostOfMillionTokens(input, one, 3);
  input.tensor_parallel = 4;
  EXPECT_NEAR(CostOfMillionTokens(input, four, 3) / one_cost, 1, 0.01);
}

TEST(DecodeEstimateTest, FewTokensReadFewExperts) {
  const MemoryPlanInput input = {.model = LoadModel("mixtral-8x7b"),
                                 .hardware = LoadHardware("h200-sxm")};
  const ModelParameters all = CountParameters(input.model);
  EXPECT_EQ(EstimateDecode(input, 1024, 1).weight_bytes,
            2 * (all.total() - all.experts) + 2 * all.experts / 4);
  EXPECT_NEAR(static_cast<double>(EstimateDecode(input, 1024, 200).weight_bytes),
              2.0 * static_cast<double>(all.total()), 1e3);
}

}  // namespace
}  // namespace kvbench
