#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention.h"

namespace kvbench {

/// A piece of attention work: some queries of one sequence against some of its keys, over all KV
/// heads, so that a block is read as one stream.
struct AttentionItem {
  int32_t sequence = 0;
  int32_t first_query = 0;  ///< of the sequence's queries
  int32_t num_queries = 0;
  int32_t first_key = 0;
  int32_t end_key = 0;
  int32_t split = -1;       ///< index into splits() if other items hold the rest of the keys
  int64_t partial_row = 0;  ///< split items: first of num_queries * num_heads partial rows
};

/// Queries whose keys are spread over several items; whoever finishes the last one merges them all,
/// in item order.
struct AttentionSplit {
  int32_t first_item = 0;
  int32_t num_items = 0;
};

/// What a plan needs to know besides the sequences.
struct AttentionPlanShape {
  int32_t num_heads = 0;
  int32_t num_kv_heads = 0;
  int32_t num_threads = 1;
};

/// The work list of a step: planned once, used by all its layers. Every thread gets consecutive
/// items of about the same cost (bytes for decodes, arithmetic for prompts); keys are cut where a
/// thread's share ends, never into pieces under kMinSplitKeys. Vectors are reused: a step no larger
/// than an earlier one allocates nothing. The same input gives the same plan.
class AttentionPlan {
 public:
  static constexpr int32_t kMinSplitKeys = 128;
  static constexpr int32_t kSplitAlign = 64;  ///< cuts fall on multiples of this many keys
  static constexpr int32_t kMaxQueryRows =
      64;  ///< an item has at most this many queries * group rows, or one query

  void Build(std::span<const AttentionSequence> sequences, const AttentionPlanShape& shape);

  int num_threads() const { return static_cast<int>(thread_begin_.size()) - 1; }
  std::span<const AttentionItem> items() const { return items_; }
  std::span<const AttentionItem> items(int thread) const;
  std::span<const AttentionSplit> splits() const { return splits_; }
  /// Partial rows that all split items need together.
  int64_t partial_rows() const { return partial_rows_; }

  /// The planner's cost of some queries against some keys, in units of a 1/8 key read of one KV
  /// head.
  static int64_t Cost(int64_t query_rows, int64_t keys) { return keys * (8 + query_rows); }

 private:
  std::vector<AttentionItem> items_;
  std::vector<AttentionSplit> splits_;
  std::vector<int32_t> thread_begin_;
  int64_t partial_rows_ = 0;
};

}  // namespace kvbench
