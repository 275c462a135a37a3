#include "kernels/cpu/attention_plan.h"

#include <algorithm>
#include <cassert>

namespace kvbench {
namespace {

// Calls visit(unit, cost) for each set of queries that is computed together: a decode's one, or a
// tile of a prompt's.
template <typename Visit>
void ForEachUnit(std::span<const AttentionSequence> sequences, int32_t group, const Visit& visit) {
  const int32_t tile = std::max(1, AttentionPlan::kMaxQueryRows / group);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const AttentionSequence& sequence = sequences[i];
    assert(sequence.num_queries <= sequence.context);
    for (int32_t query = 0; query < sequence.num_queries; query += tile) {
      AttentionItem unit;
      unit.sequence = static_cast<int32_t>(i);
      unit.first_query = query;
      unit.num_queries = std::min(tile, sequence.num_queries - query);
      unit.end_key = sequence.context - sequence.num_queries + query + unit.num_queries;
      visit(unit, AttentionPlan::Cost(int64_t{unit.num_queries} * group, unit.end_key));
    }
  }
}

// Where to cut a unit of `keys` keys so that about `wanted` lie before the cut; 0 or `keys`: not at
// all.
int32_t CutAt(int64_t wanted, int32_t keys) {
  constexpr int32_t kMin = AttentionPlan::kMinSplitKeys;
  constexpr int32_t kAlign = AttentionPlan::kSplitAlign;
  if (keys < 2 * kMin) return 2 * wanted < keys ? 0 : keys;
  const int64_t aligned = (wanted + kAlign / 2) / kAlign * kAlign;
  if (aligned < kMin) return aligned <= kMin / 2 ? 0 : kMin;
  const int64_t left = keys - aligned;
  if (left >= kMin) return static_cast<int32_t>(aligned);
  return left <= kMin / 2 ? keys : (keys - kMin) / kAlign * kAlign;
}

}  // namespace

std::span<const AttentionItem> AttentionPlan::items(int thread) const {
  const auto index = static_cast<size_t>(thread);
  const auto begin = static_cast<size_t>(thread_begin_[index]);
  return items().subspan(begin, static_cast<size_t>(thread_begin_[index + 1]) - begin);
}

void AttentionPlan::Build(std::span<const AttentionSequence> sequences,
                          const AttentionPlanShape& shape) {
  assert(shape.num_threads >= 1 && shape.num_heads % shape.num_kv_heads == 0);
  const int32_t group = shape.num_heads / shape.num_kv_heads;
  items_.clear();
  splits_.clear();
  partial_rows_ = 0;
  thread_begin_.assign(static_cast<size_t>(shape.num_threads) + 1, 0);

  int64_t total = 0;
  ForEachUnit(sequences, group, [&](const AttentionItem&, int64_t cost) { total += cost; });

  int32_t thread = 0;
  int64_t done = 0;
  const auto share_end = [&](int32_t of) { return total * (of + 1) / shape.num_threads; };
  const auto close_thread = [&] {
    thread_begin_[static_cast<size_t>(++thread)] = static_cast<int32_t>(items_.size());
  };
  ForEachUnit(sequences, group, [&](AttentionItem piece, int64_t /*cost*/) {
    const int64_t rows = int64_t{piece.num_queries} * group;
    const int32_t end_key = piece.end_key;
    const auto first_item = static_cast<int32_t>(items_.size());
    while (piece.first_key < end_key) {
      const int32_t keys = end_key - piece.first_key;
      int32_t cut = keys;
      if (thread + 1 < shape.num_threads) {
        const int64_t room = share_end(thread) - done;
        cut = room >= Cost(rows, keys) ? keys : CutAt(room / Cost(rows, 1), keys);
      }
      if (cut > 0) {
        piece.end_key = piece.first_key + cut;
        items_.push_back(piece);
        done += Cost(rows, cut);
        piece.first_key = piece.end_key;
      }
      if (piece.first_key < end_key ||
          (thread + 1 < shape.num_threads && done >= share_end(thread))) {
        close_thread();
      }
    }
    const int32_t pieces = static_cast<int32_t>(items_.size()) - first_item;
    if (pieces < 2) return;
    for (int32_t i = first_item; i < first_item + pieces; ++i) {
      AttentionItem& item = items_[static_cast<size_t>(i)];
      item.split = static_cast<int32_t>(splits_.size());
      item.partial_row = partial_rows_;
      partial_rows_ += int64_t{item.num_queries} * shape.num_heads;
    }
    splits_.push_back({first_item, pieces});
  });
  while (thread < shape.num_threads) close_thread();
}

}  // namespace kvbench
