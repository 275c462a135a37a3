#include "bench/executors/step_time_model.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "bench/executors/cpu_time_model.h"
#include "workloads/models/model_parameters.h"

namespace kvbench {
namespace {

StepLoad Load(int64_t decodes, int64_t context_each, int64_t prompt = 0) {
  StepLoad load;
  for (int64_t i = 0; i < decodes; ++i) {
    load.AddPart(context_each - 1, 1, true);
  }
  if (prompt > 0) {
    load.AddPart(0, prompt, true);
  }
  return load;
}

TEST(StepLoadTest, CountsWhatAttentionReadsAndComputes) {
  StepLoad load;
  load.AddPart(99, 1, true);   // a decode with a context of 100
  load.AddPart(0, 10, true);   // a prompt: 1 + 2 + ... 10 pairs
  load.AddPart(10, 5, false);  // a chunk: 11 + 12 + ... 15
  EXPECT_EQ(load.decodes, 1);
  EXPECT_EQ(load.decode_context, 100);
  EXPECT_EQ(load.prefills, 2);
  EXPECT_EQ(load.prefill_tokens, 15);
  EXPECT_EQ(load.prefill_context, 25);
  EXPECT_EQ(load.prefill_pairs, 55 + 65);
  EXPECT_EQ(load.generating, 2);
  EXPECT_EQ(load.tokens(), 16);
}

/// The vLLM paper's OPT-13B by hand: 20 ms for the weights, a context token 0.7 us, 4 ms a step and
/// 0.3 ms a sequence.
TEST(StepTimeModelTest, ThePapersCalibrationByHand) {
  const ModelShape model = LoadModel("opt-13b");
  const Hardware hardware = LoadHardware("a100-sxm4-40gb");
  const Calibration calibration = LoadCalibration("", hardware);
  EXPECT_EQ(calibration.name, "vllm-paper-a100-40gb");
  const DeviceShare share{
      .weight_bytes = 26'000'000'000, .kv_bytes_per_token = 819'200, .flops_per_token = 26e9};
  const StepTimeModel m = MakeStepTimeModel(calibration, model, share, 1, Dtype::kFp16);
  const StepTimes times = m.Times(Load(30, 500), 100);
  const double expected = 26e9 / 1.3e12 + 30 * 500 * 819200.0 / 1.17e12 + 0.004 + 30 * 0.0003;
  EXPECT_NEAR(static_cast<double>(times.first_ps) / 1e12, expected, 1e-6 * expected);
  EXPECT_NEAR(static_cast<double>(times.growth_ps) / 1e12, 30 * 819'200 / 1.17e12, 1e-9);
  EXPECT_EQ(times.steps, 100);
  // 2,000 prompt tokens: computing takes longer than reading the weights.
  const StepTimes prefill = m.Times(Load(0, 0, 2000), 1);
  const double compute = 2000 * 26e9 / 1.56e14 + 2000 * 819'200 / 1.17e12 + 0.0043;
  EXPECT_NEAR(static_cast<double>(prefill.first_ps) / 1e12, compute, 1e-6 * compute);
  EXPECT_EQ(prefill.growth_ps, 0);
}

/// Moves of the vLLM paper's OPT-13B by hand: a token is read and written at 1.17 TB/s, and K and V
/// of 40 layers are started as 80 of a step's 400 launches are, which take 4 ms.
TEST(StepTimeModelTest, OperationsByHand) {
  const Hardware hardware = LoadHardware("a100-sxm4-40gb");
  const DeviceShare share{
      .weight_bytes = 26'000'000'000, .kv_bytes_per_token = 819'200, .flops_per_token = 26e9};
  const StepTimeModel m = MakeStepTimeModel(LoadCalibration("", hardware), LoadModel("opt-13b"),
                                            share, 1, Dtype::kFp16);
  const std::vector<Operation> operations = {{.tokens = 500}, {.tokens = 1500}};
  const double expected = 2000.0 * 2 * 819'200 / 1.17e12 + 2 * 80 * 0.004 / 400;
  EXPECT_NEAR(static_cast<double>(m.OperationsPs(operations)) / 1e12, expected, 1e-6 * expected);
  EXPECT_EQ(m.OperationsPs({}), 0);
  // A calibration that has a write bandwidth.
  const StepTimeModel roofline = MakeStepTimeModel(LoadCalibration("roofline", hardware),
                                                   LoadModel("opt-13b"), share, 1, Dtype::kFp16);
  EXPECT_EQ(roofline.copy_token_ps, roofline.kv_read_token_ps + roofline.kv_write_token_ps);
}

TEST(StepTimeModelTest, EveryEqualStepIsTheFirstOneWithLongerContexts) {
  const ModelShape model = LoadModel("llama-3-8b");
  for (const char* name : {"a100-sxm4-80gb", "h100-sxm", "l4"}) {
    const Hardware hardware = LoadHardware(name);
    const StepTimeModel m = MakeStepTimeModel(
        LoadCalibration("", hardware), model,
        {.weight_bytes = 16'000'000'000, .kv_bytes_per_token = 131'072, .flops_per_token = 16e9}, 1,
        Dtype::kFp16);
    const StepTimes times = m.Times(Load(17, 300), 50);
    for (int64_t step = 0; step < 50; ++step) {
      ASSERT_EQ(times.first_ps + step * times.growth_ps, m.Times(Load(17, 300 + step), 1).first_ps);
    }
    EXPECT_EQ(times.Until(3), 3 * times.first_ps + 3 * times.growth_ps);
  }
}

TEST(StepTimeModelTest, RoutedExpertsAreReadAsTokensPickThem) {
  const ModelShape model = LoadModel("mixtral-8x7b");
  const ModelParameters parameters = CountParameters(model);
  const Hardware hardware = LoadHardware("h100-sxm");
  const Calibration calibration = LoadCalibration("roofline", hardware);
  const DeviceShare share{.weight_bytes = parameters.total() * 2,
                          .expert_bytes = parameters.experts * 2,
                          .kv_bytes_per_token = 131'072,
                          .flops_per_token = 26e9};
  const StepTimeModel m = MakeStepTimeModel(calibration, model, share, 1, Dtype::kFp16);
  for (const int64_t tokens : {1, 2, 7, 64}) {
    const double bytes =
        2 * (static_cast<double>(parameters.total() - parameters.experts) +
             static_cast<double>(parameters.experts) * ExpectedExpertShare(model, tokens));
    EXPECT_NEAR(static_cast<double>(m.DensePs(Load(tokens, 10))) / 1e12,
                bytes / calibration.weight_read_bytes_per_s, 1e-9);
  }
}

TEST(StepTimeModelTest, MoreDevicesShareTheWorkAndPayForTheLink) {
  const ModelShape model = LoadModel("llama-3-70b");
  const Hardware hardware = LoadHardware("h100-sxm");
  const Calibration calibration = LoadCalibration("", hardware);
  EXPECT_EQ(calibration.name, "roofline");
  const auto make = [&](int64_t devices) {
    return MakeStepTimeModel(calibration, model,
                             {.weight_bytes = 140'000'000'000 / devices,
                              .kv_bytes_per_token = 327'680 / devices,
                              .flops_per_token = 140e9 / static_cast<double>(devices)},
                             devices, Dtype::kFp16);
  };
  const StepTimeModel one = make(1);
  const StepTimeModel four = make(4);
  EXPECT_EQ(one.all_reduce_token_ps, 0);
  EXPECT_NEAR(static_cast<double>(four.weights_ps), static_cast<double>(one.weights_ps) / 4, 1);
  // 160 all-reduces of 8,192 halves, 2 * 3/4 of them over each link.
  EXPECT_NEAR(static_cast<double>(four.all_reduce_token_ps),
              160 * 8192 * 2 * 1.5 / calibration.link_bytes_per_s * 1e12, 1);
  EXPECT_EQ(four.step_ps - one.step_ps, 160 * 10'000'000);
}

TEST(StepTimeModelTest, CurvesAreStraightBetweenTheirPoints) {
  StepTimeModel m;
  m.dense_curve = {{1, 100}, {4, 130}, {8, 200}};
  m.head_curve = {{1, 10}};
  m.prefill_pair_curve = {{10, 1000}, {20, 3000}};
  const auto dense = [&](int64_t tokens, int64_t generating) {
    StepLoad load;
    load.decodes = tokens;
    load.generating = generating;
    return m.DensePs(load);
  };
  EXPECT_EQ(dense(1, 0), 100);
  EXPECT_EQ(dense(3, 0), 120);
  EXPECT_EQ(dense(8, 0), 200);
  EXPECT_EQ(dense(16, 0), 400);
  EXPECT_EQ(dense(4, 3), 160);
  EXPECT_EQ(m.PrefillPs(Load(0, 0, 10)), 55 * 1000 / 10);
  EXPECT_EQ(m.PrefillPs(Load(0, 0, 15)), 120 * 2000 / 15);
  EXPECT_EQ(m.PrefillPs(Load(5, 5)), 0);
}

TEST(StepTimeModelTest, AStepOfMonthsIsAnError) {
  StepTimeModel m;
  m.kv_read_token_ps = int64_t{1} << 40;
  EXPECT_THROW(m.Times(Load(1000, 1 << 20), 1), Error);
}

TEST(CpuTimeModelTest, AddsUpAsTheRoofsSay) {
  const ModelShape m = LoadModel("twin-gqa");
  CpuRoofs roofs;
  roofs.dense = {{1, 1e-10}, {8, 2e-10}};
  roofs.elementwise = {{1, 1e-9}, {8, 4e-9}};
  roofs.decode = {{0, 1e-9, 2e-9}, {16, 3e-9, 4e-9}};
  roofs.prefill = {{16, 1e-9}, {64, 5e-10}};
  roofs.kv_write_bytes_per_s = 1e9;
  roofs.dispatch_s = 1e-6;
  const auto layers = static_cast<double>(m.num_hidden_layers);
  const auto kv_heads = static_cast<double>(m.num_key_value_heads);
  for (const int32_t block_size : {0, 16}) {
    const StepTimeModel model = MakeCpuTimeModel(roofs, m, Dtype::kFp16, true, block_size);
    const DecodeRoof& decode = roofs.decode[block_size == 0 ? 0 : 1];
    const double weights =
        static_cast<double>(m.hidden_size) *
        static_cast<double>(2 * m.num_attention_heads * m.head_dim +
                            2 * m.num_key_value_heads * m.head_dim + 3 * m.intermediate_size);
    const double expected =
        layers * (weights * 2e-10 + static_cast<double>(m.hidden_size) * 4e-9) +
        static_cast<double>(m.hidden_size * m.vocab_size) * 2e-10 +
        layers * kv_heads * (8 * 100 * decode.seconds_per_key + 8 * decode.seconds_per_head) +
        8 * static_cast<double>(KvBytesPerToken(m, Dtype::kFp16)) / 1e9 + 2 * layers * 1e-6;
    EXPECT_NEAR(static_cast<double>(model.Times(Load(8, 100), 1).first_ps) / 1e12, expected,
                1e-6 * expected);
    const StepTimeModel attention = MakeCpuTimeModel(roofs, m, Dtype::kFp16, false, block_size);
    EXPECT_EQ(attention.DensePs(Load(8, 100)), 0);
  }
}

}  // namespace
}  // namespace kvbench
