#pragma once

#include <cstdint>
#include <vector>

#include "kernels/checks/attention_case.h"
#include "kernels/cuda/device_attention.h"

namespace kvbench {

/// What is attended to, and by which of the device's kernels.
struct DeviceAttentionCase {
  AttentionCaseSpec spec;
  DeviceAttentionShape::Decode decode = DeviceAttentionShape::Decode::kAuto;
  int32_t cta_budget = 1;  ///< 1 leaves keys whole; more cuts them into parts of 128 and merges
  int32_t cores_stages = 2;
};

/// How many of the combinations of the axes: every pair of values at least once, or all.
enum class Coverage { kPairwise, kWholeProduct };

/// Decodes over types, block sizes, groups, head dims, whole and split keys, and lengths around the
/// edges of tiles, blocks and parts. @param decode kCores or kMma
std::vector<DeviceAttentionCase> DecodeCases(DeviceAttentionShape::Decode decode,
                                             Coverage coverage);

/// Rings of three and four stages.
std::vector<DeviceAttentionCase> DeeperRingCases();

/// Whole prompts and chunks behind cached keys, decodes in the same step.
std::vector<DeviceAttentionCase> PromptCases(Coverage coverage);

/// Groups that are no power of two.
std::vector<DeviceAttentionCase> OddGroupCases();

/// Short decodes and prompts that launch every attention kernel that a DeviceAttention can choose,
/// at least once. Pairs of axes do not promise that.
std::vector<DeviceAttentionCase> EveryKernelCases();

/// What an output may differ from the reference, as a share of the largest element of its row.
constexpr double DeviceTolerance(KvType type) { return type == KvType::kFp16 ? 2e-3 : 1e-2; }

}  // namespace kvbench
