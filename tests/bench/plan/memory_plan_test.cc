#include "bench/plan/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/testing.h"
#include "workloads/models/model_parameters.h"

namespace kvbench {
namespace {

using testing::HasSubstr;

constexpr int64_t kGiB = int64_t{1} << 30;

/// A plan whose KV cache has exactly so many bytes a device.
MemoryPlan WithKvBytes(MemoryPlanInput input, int64_t kv_bytes) {
  input.hardware.memory_bytes = int64_t{1} << 50;
  input.utilization = 1;
  input.workspace_bytes = 0;
  const MemoryPlan all = PlanMemory(input);
  input.workspace_bytes = all.kv_bytes - kv_bytes;
  const MemoryPlan plan = PlanMemory(input);
  EXPECT_EQ(plan.kv_bytes, kv_bytes);
  return plan;
}

ModelShape Shape(int64_t layers, int64_t hidden, int64_t heads, int64_t kv_heads,
                 int64_t head_dim) {
  ModelShape model = LoadModel("twin-gqa");
  model.name = "shape";
  model.attention = kv_heads == heads ? Attention::kMHA
                    : kv_heads == 1   ? Attention::kMQA
                                      : Attention::kGQA;
  model.num_hidden_layers = layers;
  model.hidden_size = hidden;
  model.num_attention_heads = heads;
  model.num_key_value_heads = kv_heads;
  model.head_dim = head_dim;
  return model;
}

// vLLM paper, table 1, by the formula of its artifact: the blocks of the three OPT models, and the
// unrounded counts 983.31, 624.31 and 3,760.49.
TEST(MemoryPlanTest, BlocksOfThePaper) {
  struct {
    const char* model;
    int64_t memory;
    int64_t devices;
    int64_t blocks;
    double unrounded;
  } const paper[] = {{"opt-13b", 42'298'834'944, 1, 983, 983.31},
                     {"opt-66b", 42'505'273'344, 4, 624, 624.31},
                     {"opt-175b", 85'051'637'760, 8, 3760, 3760.49}};
  for (const auto& [model, memory, devices, blocks, unrounded] : paper) {
    const MemoryPlan plan = PlanMemory({.model = LoadModel(model),
                                        .hardware = LoadHardware("a100-sxm4-40gb"),
                                        .tensor_parallel = devices,
                                        .memory_bytes = memory});
    EXPECT_EQ(plan.blocks, blocks) << model;
    EXPECT_EQ(plan.slots, 16 * blocks) << model;
    EXPECT_NEAR(
        static_cast<double>(plan.kv_bytes) / static_cast<double>(16 * plan.kv_bytes_per_token),
        unrounded, 0.005)
        << model;
    int64_t sum = 0;
    for (const MemoryLine& line : plan.lines) {
      sum += line.bytes;
    }
    EXPECT_EQ(sum, plan.kv_bytes) << model;
  }
  const MemoryPlan other = PlanMemory({.model = LoadModel("opt-13b"),
                                       .hardware = LoadHardware("a100-sxm4-40gb"),
                                       .memory_bytes = 42'505'273'344});
  EXPECT_EQ(other.blocks, 998);
}

// vLLM issue 10517: 1,952 blocks of 16 for sequences of 20,000 tokens are 1.56 of them.
TEST(MemoryPlanTest, ConcurrencyAsVllmPrintsIt) {
  EXPECT_NEAR(MaxConcurrency(1952, 16, 20'000), 1.5616, 1e-12);
  EXPECT_NEAR(MaxConcurrency(1478, 16, 29'000), 0.8155, 1e-4);
  const MemoryPlan plan = WithKvBytes({.model = LoadModel("llama-3.1-8b"), .max_model_len = 20'000},
                                      1952LL * 16 * 131'072);
  EXPECT_EQ(plan.blocks, 1952);
  EXPECT_NEAR(plan.concurrency, 1.5616, 1e-12);
  EXPECT_EQ(plan.sequences, 1);
}

// jranaraki/vllm-fit 2 and 14: KV heads, not query heads (8 times too much).
// LMCache 688, Model-Optimizer 2482: head_dim is not hidden_size / heads.
TEST(MemoryPlanTest, KvBytesPerTokenOfThePublicIssues) {
  EXPECT_EQ(KvBytesPerToken(LoadModel("llama-3-70b"), Dtype::kFp16), 327'680);
  const ModelShape qwen3_4b = Shape(36, 2560, 32, 8, 128);
  EXPECT_EQ(KvBytesPerToken(qwen3_4b, Dtype::kFp16), 147'456) << "not 92,160";
  const ModelShape mistral_small = Shape(40, 5120, 32, 8, 128);
  EXPECT_EQ(KvBytesPerToken(mistral_small, Dtype::kFp16), 163'840) << "not 204,800";
  EXPECT_EQ(LoadModel("gpt-oss-20b").head_dim, 64);
  EXPECT_EQ(KvBytesPerToken(LoadModel("gpt-oss-20b"), Dtype::kFp16), 24 * 2048);
}

// transformers 48566: Qwen3-32B on four devices, blocks of 256: 814 with all heads, 3,258 with the
// device's share.
TEST(MemoryPlanTest, EachDeviceHoldsItsShareOfTheHeads) {
  const ModelShape qwen3_32b = Shape(64, 5120, 64, 8, 128);
  MemoryPlanInput input = {.model = qwen3_32b, .tensor_parallel = 4, .block_size = 256};
  const MemoryPlan plan = WithKvBytes(input, 3258LL * 256 * 65'536);
  EXPECT_EQ(plan.kv_bytes_per_token, 65'536);
  EXPECT_EQ(plan.blocks, 3258);
  input.tensor_parallel = 1;
  EXPECT_EQ(WithKvBytes(input, 3258LL * 256 * 65'536).blocks, 814);
}

// sglang 19086, transformers 48307: two KV heads on four devices are one on each.
TEST(MemoryPlanTest, FewerHeadsThanDevicesAreRepeated) {
  const ModelShape two = Shape(28, 1536, 12, 2, 128);
  EXPECT_EQ(DeviceShape(two, 4).num_key_value_heads, 1);
  EXPECT_EQ(DeviceShape(two, 2).num_key_value_heads, 1);
  const MemoryPlan plan = WithKvBytes({.model = two, .tensor_parallel = 4}, kGiB);
  EXPECT_EQ(plan.kv_bytes_per_token, 28 * 2 * 128 * 2);
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_EQ(plan.notes[0], "4 devices share 2 KV heads: each head is on 2 of them.");
}

TEST(MemoryPlanTest, HeadsThatDoNotDivideAreASentence) {
  EXPECT_THAT(SentenceOf([] { DeviceShape(LoadModel("falcon-7b"), 2); }),
              testing::AllOf(HasSubstr("--tensor-parallel-size 2: 71 query heads of falcon-7b"),
                             HasSubstr("give a divisor")));
  EXPECT_THAT(SentenceOf([] { DeviceShape(Shape(4, 1536, 24, 8, 64), 6); }),
              HasSubstr("8 KV heads of shape do not divide by it; give a divisor or a multiple"));
}

TEST(MemoryPlanTest, TheLatentOfMlaIsOnEveryDevice) {
  const MemoryPlan plan =
      WithKvBytes({.model = LoadModel("deepseek-v3"), .tensor_parallel = 16}, 100 * kGiB);
  EXPECT_EQ(plan.kv_bytes_per_token, 70'272);
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_THAT(plan.notes[0], HasSubstr("each of the 16 devices holds all of it"));
}

// vllm 43308: of 60 layers 50 have a window of 1,024 tokens, which is all that they keep.
// hf-mem 60: nor are they left out (983,040 bytes a token, not 163,840).
TEST(MemoryPlanTest, WindowLayersAreChargedTheirWindow) {
  ModelShape gemma = Shape(60, 5376, 32, 16, 256);
  gemma.sliding_window = 1024;
  gemma.num_sliding_window_layers = 50;
  EXPECT_EQ(KvBytesPerToken(gemma, Dtype::kFp16), 983'040);
  const int64_t layer = 16'384;
  EXPECT_EQ(KvBytesForContext(gemma, Dtype::kFp16, 2) - KvBytesForContext(gemma, Dtype::kFp16, 1),
            60 * layer);
  EXPECT_EQ(
      KvBytesForContext(gemma, Dtype::kFp16, 5001) - KvBytesForContext(gemma, Dtype::kFp16, 5000),
      10 * layer)
      << "163,840 once the windows are full";
  const MemoryPlanInput input = {.model = gemma, .max_model_len = 131'072};
  const MemoryPlan plan = WithKvBytes(input, 100 * kGiB);
  EXPECT_EQ(plan.sequence_bytes, layer * (10 * 131'072 + 50 * 1024));
  EXPECT_EQ(plan.sequences, 100 * kGiB / plan.sequence_bytes);
  EXPECT_GT(plan.slots, 5 * (100 * kGiB / 983'040)) << "as if all layers kept all tokens";
  // Short sequences fill no window: each of their slots costs what it costs in all layers.
  EXPECT_EQ(SlotsForSequencesOf(input, plan, 512), 100 * kGiB / 983'040);
}

// tt-xla 5860: a window is never longer than the longest sequence.
TEST(MemoryPlanTest, AWindowIsCappedByTheLongestSequence) {
  ModelShape windowed = LoadModel("mistral-7b-v0.1");
  const MemoryPlan plan = WithKvBytes({.model = windowed, .max_model_len = 2048}, kGiB);
  EXPECT_EQ(plan.sequence_bytes, 2048 * 131'072);
  windowed.sliding_window = windowed.num_sliding_window_layers = 0;
  EXPECT_EQ(WithKvBytes({.model = windowed, .max_model_len = 2048}, kGiB).blocks, plan.blocks);
}

// hf-mem 61: gpt-oss-120b, 5.38 GiB are 78,384 tokens.
TEST(MemoryPlanTest, GptOss) {
  ModelShape gpt_oss = LoadModel("gpt-oss-120b");
  EXPECT_EQ(KvBytesPerToken(gpt_oss, Dtype::kFp16), 73'728);
  EXPECT_NEAR(78'384.0 * 73'728 / static_cast<double>(kGiB), 5.38, 0.005);
  gpt_oss.sliding_window = gpt_oss.num_sliding_window_layers = 0;
  EXPECT_EQ(WithKvBytes({.model = gpt_oss}, 78'384LL * 73'728).slots, 78'384);
}

TEST(MemoryPlanTest, ModelsThatDoNotFitAreAnAnswer) {
  const MemoryPlan plan =
      PlanMemory({.model = LoadModel("llama-2-70b"), .hardware = LoadHardware("a100-sxm4-80gb")});
  EXPECT_LT(plan.kv_bytes, -50 * kGiB);
  EXPECT_EQ(plan.short_by_bytes(), -plan.kv_bytes);
  EXPECT_EQ(plan.blocks, 0);
  EXPECT_EQ(plan.slots, 0);
  EXPECT_EQ(plan.sequences, 0);
  EXPECT_EQ(plan.concurrency, 0);
}

TEST(MemoryPlanTest, ActivationsGrowWithTheStep) {
  MemoryPlanInput input = {.model = LoadModel("llama-2-7b"),
                           .hardware = LoadHardware("a100-sxm4-80gb")};
  EXPECT_EQ(PlanMemory(input).activation_bytes, 2LL * 2560 * 32'000 * 2) << "the logits";
  input.dtype = Dtype::kFp8;
  EXPECT_EQ(PlanMemory(input).activation_bytes, 2LL * 2560 * 32'000 * 2) << "8-bit weights alone";
  input.dtype = Dtype::kFp16;
  input.model.vocab_size = 100;
  EXPECT_EQ(PlanMemory(input).activation_bytes, 2LL * 2560 * (3 * 4096 + 4096) * 2);
  input.tensor_parallel = 4;
  EXPECT_EQ(PlanMemory(input).activation_bytes, 2LL * 2560 * (3 * 1024 + 4096) * 2);
  input.max_num_batched_tokens = int64_t{1} << 60;
  EXPECT_THAT(SentenceOf([&] { PlanMemory(input); }), HasSubstr("activations are past 2^62"));
}

}  // namespace
}  // namespace kvbench
