#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention.h"
#include "kernels/cuda/attention_params.h"

namespace kvbench {

/// What a plan needs to know besides the sequences.
struct DevicePlanShape {
  int32_t num_heads = 0;
  int32_t num_kv_heads = 0;
  bool paged = false;
  int32_t block_size = 0;
  /// (query, head of the group) rows of an item of a prompt: 16 or 32.
  int32_t prompt_rows = 32;
  /// CTAs that a decode should have at least: those that run at once, SMs x CTAs of an SM.
  int32_t cta_budget = 0;
};

/// The work list of a step for the attention kernels, planned once and used by all layers: a pure
/// function of the sequences. Decodes (one query) come first, longest first, cut into parts of the
/// same length where they do not fill the GPU whole; prompts are cut by queries.
///
/// Vectors are reused: a step no larger than an earlier one allocates nothing.
class DeviceAttentionPlan {
 public:
  static constexpr int32_t kMinPartKeys = 128;  ///< a shorter part costs more than it saves
  static constexpr int32_t kPartAlign = 64;     ///< parts end on multiples of it

  /// Blocks are listed behind each other, sequence by sequence.
  void Build(std::span<const AttentionSequence> sequences, const DevicePlanShape& shape);

  std::span<const DeviceItem> items() const { return items_; }  ///< decodes, then prompts
  int32_t decode_items() const { return decode_items_; }
  int32_t prompt_items() const { return static_cast<int32_t>(items_.size()) - decode_items_; }
  std::span<const DeviceSequence> sequences() const { return sequences_; }
  std::span<const int32_t> blocks() const { return blocks_; }
  std::span<const DeviceMerge> merges() const { return merges_; }
  int32_t partial_rows() const { return partial_rows_; }
  /// Keys of a part of a decode; at least the longest context where none is cut.
  int32_t part_keys() const { return part_keys_; }

 private:
  int32_t ChoosePart(std::span<const AttentionSequence> sequences, const DevicePlanShape& shape);
  void AddDecodes(std::span<const AttentionSequence> sequences);
  void AddPrompts(std::span<const AttentionSequence> sequences, const DevicePlanShape& shape);

  std::vector<DeviceItem> items_;
  std::vector<DeviceSequence> sequences_;
  std::vector<int32_t> blocks_;
  std::vector<DeviceMerge> merges_;
  int32_t decode_items_ = 0;
  int32_t partial_rows_ = 0;
  int32_t part_keys_ = 0;
};

}  // namespace kvbench
