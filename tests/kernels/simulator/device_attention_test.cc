#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/kernel_names.h"
#include "tests/kernels/simulator/attention_on_device.h"
#include "tests/kernels/simulator/covering_set.h"
#include "tests/kernels/simulator/schedules.h"

// Attention kernels on the simulator against the reference. By default a pairwise covering set of
// the axes under eight orders of threads; with KVBENCH_FULL=1 in the environment their whole
// product, each under one random order.
namespace kvbench {
namespace {

using Decode = DeviceAttentionShape::Decode;

constexpr std::array<KvType, 2> kTypes = {KvType::kFp16, KvType::kBf16};
constexpr std::array<int32_t, 5> kBlockSizes = {0, 1, 8, 16, 128};  // 0: contiguous
constexpr std::array<int32_t, 6> kGroups = {1, 2, 4, 8, 16, 32};
constexpr std::array<int32_t, 3> kHeadDims = {64, 128, 256};
// CTAs to fill: 1 leaves keys whole, more cuts them into parts of 128 and merges.
constexpr std::array<int32_t, 2> kBudgets = {1, 64};
constexpr int kLengthKinds = 3;

const NormalTable& Normals() {
  static const NormalTable table;
  return table;
}

bool Full() {
  const char* const value = std::getenv("KVBENCH_FULL");
  return value != nullptr && std::string(value) == "1";
}

/// Runs a case under one order of threads and compares rows with the reference.
void ExpectRight(const AttentionCaseSpec& spec, Decode decode, int32_t cta_budget, int32_t stages,
                 const SimulatorOptions& options, uint64_t seed) {
  std::mt19937_64 random(seed);
  const AttentionCase attention_case(spec, Normals(), random);
  SimulatedDevice device(options);
  AttentionOnDevice on_device(device, attention_case);
  try {
    on_device.Run(decode, cta_budget, stages);
  } catch (const SimulatorFault& fault) {
    FAIL() << on_device.decode_kernel() << ": " << spec.ToString() << ": " << fault.what();
  }
  const double error = attention_case.LargestError(48, random);
  EXPECT_LE(error, DeviceTolerance(spec.kv_type))
      << on_device.decode_kernel() << ": " << spec.ToString() << ", seed " << seed;
  EXPECT_TRUE(attention_case.GuardsIntact());
}

std::vector<Choice> Choices(const std::vector<int>& sizes) {
  return Full() ? WholeProduct(sizes) : PairwiseSet(sizes);
}

std::vector<SimulatorOptions> Orders(uint64_t number) {
  return Full() ? std::vector<SimulatorOptions>{{.schedule = Schedule::kRandom, .seed = number}}
                : Schedules();
}

template <typename Array>
constexpr int Size(const Array& array) {
  return static_cast<int>(array.size());
}

AttentionCaseSpec Spec(const Choice& choice) {
  AttentionCaseSpec spec;
  spec.kv_type = kTypes[static_cast<size_t>(choice[0])];
  spec.block_size = kBlockSizes[static_cast<size_t>(choice[1])];
  spec.group = kGroups[static_cast<size_t>(choice[2])];
  spec.head_dim = kHeadDims[static_cast<size_t>(choice[3])];
  // One KV head of large groups is enough: heads are the grid's second axis.
  spec.num_kv_heads = spec.group >= 8 ? 1 : 2;
  return spec;
}

/// Contexts of decodes: one token; around the edges of tiles (16 to 64 keys) and blocks; parts of
/// 128 keys, exactly and with a rest.
std::vector<int32_t> DecodeContexts(int kind) {
  switch (kind) {
    case 0:
      return {1, 15, 33};
    case 1:
      return {16, 65, 2};
    default:
      return {128, 257, 31};
  }
}

void RunDecodes(Decode decode, const std::vector<int>& stages) {
  const std::vector<int> sizes = {Size(kTypes),    Size(kBlockSizes), Size(kGroups),
                                  Size(kHeadDims), Size(kBudgets),    kLengthKinds};
  uint64_t number = 0;
  for (const Choice& choice : Choices(sizes)) {
    AttentionCaseSpec spec = Spec(choice);
    for (const int32_t context : DecodeContexts(choice[5])) {
      spec.sequences.push_back({.context = context, .num_queries = 1});
    }
    ++number;
    for (const SimulatorOptions& options : Orders(number)) {
      ExpectRight(spec, decode, kBudgets[static_cast<size_t>(choice[4])], stages[0], options,
                  number);
    }
  }
}

TEST(DeviceAttention, DecodeWithoutTensorCores) { RunDecodes(Decode::kCores, {2}); }

TEST(DeviceAttention, DecodeByTensorCores) { RunDecodes(Decode::kMma, {2}); }

TEST(DeviceAttention, DeeperRings) {
  uint64_t number = 100;
  for (const int32_t stages : {3, 4}) {
    for (const int32_t block_size : {0, 8}) {
      AttentionCaseSpec spec;
      spec.block_size = block_size;
      spec.num_kv_heads = 2;
      spec.head_dim = 128;
      spec.sequences = {{.context = 200, .num_queries = 1}, {.context = 17, .num_queries = 1}};
      ++number;
      for (const SimulatorOptions& options : Schedules()) {
        ExpectRight(spec, Decode::kCores, 1, stages, options, number);
      }
    }
  }
}

TEST(DeviceAttention, Prompts) {
  const std::vector<int> sizes = {Size(kTypes), Size(kBlockSizes), Size(kGroups), Size(kHeadDims),
                                  2};
  uint64_t number = 200;
  for (const Choice& choice : Choices(sizes)) {
    AttentionCaseSpec spec = Spec(choice);
    // A whole prompt, a chunk behind cached keys, and decodes in the same step.
    if (choice[4] == 0) {
      spec.sequences = {{.context = 37, .num_queries = 37}, {.context = 5, .num_queries = 1}};
    } else {
      spec.sequences = {{.context = 66, .num_queries = 3}, {.context = 33, .num_queries = 2}};
    }
    ++number;
    for (const SimulatorOptions& options : Orders(number)) {
      ExpectRight(spec, Decode::kAuto, 1, 2, options, number);
    }
  }
}

TEST(DeviceAttention, OddGroups) {
  uint64_t number = 300;
  for (const int32_t group : {3, 5, 6, 7, 12}) {
    for (const Decode decode : {Decode::kCores, Decode::kMma}) {
      AttentionCaseSpec spec;
      spec.block_size = 16;
      spec.group = group;
      spec.head_dim = 64;
      spec.sequences = {{.context = 70, .num_queries = 1}, {.context = 9, .num_queries = 9}};
      ++number;
      ExpectRight(spec, decode, 1, 2, {.schedule = Schedule::kRandom, .seed = number}, number);
    }
  }
}

}  // namespace
}  // namespace kvbench
