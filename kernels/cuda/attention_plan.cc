#include "kernels/cuda/attention_plan.h"

#include <algorithm>
#include <cstddef>

namespace kvbench {

namespace {

int32_t DivideUp(int32_t a, int32_t b) { return (a + b - 1) / b; }

}  // namespace

void DeviceAttentionPlan::Build(std::span<const AttentionSequence> sequences,
                                const DevicePlanShape& shape) {
  items_.clear();
  sequences_.clear();
  blocks_.clear();
  merges_.clear();
  partial_rows_ = 0;
  for (const AttentionSequence& sequence : sequences) {
    DeviceSequence on_device = {.base = sequence.base,
                                .head_stride = sequence.head_stride,
                                .first_row = sequence.first_query,
                                .num_queries = sequence.num_queries,
                                .context = sequence.context,
                                .first_block = static_cast<int32_t>(blocks_.size())};
    if (shape.paged) {
      blocks_.insert(blocks_.end(), sequence.blocks,
                     sequence.blocks + DivideUp(sequence.context, shape.block_size));
    }
    sequences_.push_back(on_device);
  }
  part_keys_ = ChoosePart(sequences, shape);
  AddDecodes(sequences);
  decode_items_ = static_cast<int32_t>(items_.size());
  AddPrompts(sequences, shape);
}

int32_t DeviceAttentionPlan::ChoosePart(std::span<const AttentionSequence> sequences,
                                        const DevicePlanShape& shape) {
  int32_t longest = 0;
  for (const AttentionSequence& sequence : sequences) {
    if (sequence.num_queries == 1) {
      longest = std::max(longest, sequence.context);
    }
  }
  const auto ctas = [&](int32_t units) {
    int64_t sum = 0;
    for (const AttentionSequence& sequence : sequences) {
      if (sequence.num_queries == 1) {
        sum += std::max(1, DivideUp(sequence.context, units * kPartAlign));
      }
    }
    return sum * shape.num_kv_heads;
  };
  // The shortest part that does not ask for more CTAs than run at once.
  int32_t low = kMinPartKeys / kPartAlign;
  int32_t high = std::max(low, DivideUp(longest, kPartAlign));
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (ctas(middle) <= shape.cta_budget) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low * kPartAlign;
}

void DeviceAttentionPlan::AddDecodes(std::span<const AttentionSequence> sequences) {
  for (size_t i = 0; i < sequences.size(); ++i) {
    const AttentionSequence& sequence = sequences[i];
    if (sequence.num_queries != 1) {
      continue;
    }
    const int32_t parts = std::max(1, DivideUp(sequence.context, part_keys_));
    if (parts > 1) {
      merges_.push_back({.row = sequence.first_query,
                         .first_partial = partial_rows_,
                         .parts = parts,
                         .stride = 1});
    }
    for (int32_t part = 0; part < parts; ++part) {
      items_.push_back({.sequence = static_cast<int32_t>(i),
                        .first_query = 0,
                        .num_queries = 1,
                        .first_key = part * part_keys_,
                        .end_key = std::min((part + 1) * part_keys_, sequence.context),
                        .partial_row = parts > 1 ? partial_rows_++ : -1});
    }
  }
  // Longest first, so that the last CTAs to start are short ones.
  std::stable_sort(items_.begin(), items_.end(), [](const DeviceItem& a, const DeviceItem& b) {
    return a.end_key - a.first_key > b.end_key - b.first_key;
  });
}

void DeviceAttentionPlan::AddPrompts(std::span<const AttentionSequence> sequences,
                                     const DevicePlanShape& shape) {
  const int32_t group = shape.num_heads / shape.num_kv_heads;
  const int32_t queries_each = std::max(1, shape.prompt_rows / group);
  const size_t first = items_.size();
  for (size_t i = 0; i < sequences.size(); ++i) {
    const AttentionSequence& sequence = sequences[i];
    if (sequence.num_queries <= 1) {
      continue;
    }
    for (int32_t query = 0; query < sequence.num_queries; query += queries_each) {
      const int32_t count = std::min(queries_each, sequence.num_queries - query);
      items_.push_back({.sequence = static_cast<int32_t>(i),
                        .first_query = query,
                        .num_queries = count,
                        .first_key = 0,
                        .end_key = sequence.context - sequence.num_queries + query + count});
    }
  }
  std::stable_sort(items_.begin() + static_cast<std::ptrdiff_t>(first), items_.end(),
                   [](const DeviceItem& a, const DeviceItem& b) { return a.end_key > b.end_key; });
}

}  // namespace kvbench
