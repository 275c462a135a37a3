#include "kernels/checks/device_attention_cases.h"

#include <array>

#include "kernels/checks/covering_set.h"

namespace kvbench {

namespace {

using Decode = DeviceAttentionShape::Decode;

constexpr std::array<KvType, 2> kTypes = {KvType::kFp16, KvType::kBf16};
constexpr std::array<int32_t, 5> kBlockSizes = {0, 1, 8, 16, 128};  // 0: contiguous
constexpr std::array<int32_t, 6> kGroups = {1, 2, 4, 8, 16, 32};
constexpr std::array<int32_t, 3> kHeadDims = {64, 128, 256};
constexpr std::array<int32_t, 2> kBudgets = {1, 64};
constexpr int kLengthKinds = 3;

template <typename Array>
constexpr int Size(const Array& array) {
  return static_cast<int>(array.size());
}

std::vector<Choice> Choices(const std::vector<int>& sizes, Coverage coverage) {
  return coverage == Coverage::kWholeProduct ? WholeProduct(sizes) : PairwiseSet(sizes);
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
std::array<int32_t, 3> DecodeContexts(int kind) {
  switch (kind) {
    case 0:
      return {1, 15, 33};
    case 1:
      return {16, 65, 2};
    default:
      return {128, 257, 31};
  }
}

}  // namespace

std::vector<DeviceAttentionCase> DecodeCases(Decode decode, Coverage coverage) {
  std::vector<DeviceAttentionCase> cases;
  for (const Choice& choice : Choices({Size(kTypes), Size(kBlockSizes), Size(kGroups),
                                       Size(kHeadDims), Size(kBudgets), kLengthKinds},
                                      coverage)) {
    AttentionCaseSpec spec = Spec(choice);
    for (const int32_t context : DecodeContexts(choice[5])) {
      spec.sequences.push_back({.context = context, .num_queries = 1});
    }
    cases.push_back(
        {.spec = spec, .decode = decode, .cta_budget = kBudgets[static_cast<size_t>(choice[4])]});
  }
  return cases;
}

std::vector<DeviceAttentionCase> DeeperRingCases() {
  std::vector<DeviceAttentionCase> cases;
  for (const int32_t stages : {3, 4}) {
    for (const int32_t block_size : {0, 8}) {
      cases.push_back({.spec = {.block_size = block_size,
                                .num_kv_heads = 2,
                                .head_dim = 128,
                                .sequences = {{.context = 200}, {.context = 17}}},
                       .decode = Decode::kCores,
                       .cores_stages = stages});
    }
  }
  return cases;
}

std::vector<DeviceAttentionCase> PromptCases(Coverage coverage) {
  std::vector<DeviceAttentionCase> cases;
  for (const Choice& choice :
       Choices({Size(kTypes), Size(kBlockSizes), Size(kGroups), Size(kHeadDims), 2}, coverage)) {
    AttentionCaseSpec spec = Spec(choice);
    if (choice[4] == 0) {
      spec.sequences = {{.context = 37, .num_queries = 37}, {.context = 5, .num_queries = 1}};
    } else {
      spec.sequences = {{.context = 66, .num_queries = 3}, {.context = 33, .num_queries = 2}};
    }
    cases.push_back({.spec = spec});
  }
  return cases;
}

std::vector<DeviceAttentionCase> OddGroupCases() {
  std::vector<DeviceAttentionCase> cases;
  for (const int32_t group : {3, 5, 6, 7, 12}) {
    for (const Decode decode : {Decode::kCores, Decode::kMma}) {
      cases.push_back({.spec = {.block_size = 16,
                                .group = group,
                                .head_dim = 64,
                                .sequences = {{.context = 70}, {.context = 9, .num_queries = 9}}},
                       .decode = decode});
    }
  }
  return cases;
}

std::vector<DeviceAttentionCase> EveryKernelCases() {
  std::vector<DeviceAttentionCase> cases;
  for (const KvType type : kTypes) {
    for (const int32_t block_size : {0, 16}) {
      for (const int32_t head_dim : kHeadDims) {
        // Groups of 1, 2 and 4 are kernels of their own without tensor cores; up to 16 and up to 32
        // with them.
        for (const int32_t group : {1, 2, 4, 16, 32}) {
          cases.push_back({.spec = {.kv_type = type,
                                    .block_size = block_size,
                                    .group = group,
                                    .head_dim = head_dim,
                                    .sequences = {{.context = 33}, {.context = 2}}},
                           .decode = group <= 4 ? Decode::kCores : Decode::kMma});
        }
        cases.push_back({.spec = {.kv_type = type,
                                  .block_size = block_size,
                                  .head_dim = head_dim,
                                  .sequences = {{.context = 20, .num_queries = 18}}}});
      }
    }
  }
  // Parts to be merged.
  cases.push_back({.spec = {.block_size = 16, .sequences = {{.context = 257}}}, .cta_budget = 64});
  const std::vector<DeviceAttentionCase> rings = DeeperRingCases();
  cases.insert(cases.end(), rings.begin(), rings.end());
  return cases;
}

}  // namespace kvbench
