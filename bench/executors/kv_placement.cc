#include "bench/executors/kv_placement.h"

#include "kernels/kv_layout.h"

namespace kvbench {

KvType KvTypeOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp32:
      return KvType::kFp32;
    case Dtype::kBf16:
      return KvType::kBf16;
    case Dtype::kInt8:
      return KvType::kInt8;
    default:
      return KvType::kFp16;
  }
}

KvPlacement::KvPlacement(const ModelShape& model, KvType type, const KvCache& cache)
    : type_(type),
      num_layers_(model.num_hidden_layers),
      num_kv_heads_(static_cast<int32_t>(model.num_key_value_heads)),
      head_dim_(static_cast<int32_t>(model.head_dim)) {
  if (cache.block_size() > 0) {
    layout_ = PagedLayout(cache.block_size(), num_kv_heads_, head_dim_);
    array_elements_ = PagedPoolElements(layout_, cache.capacity_slots() / cache.block_size());
  } else {
    layout_ = ContiguousLayout(num_kv_heads_, head_dim_);
    array_elements_ = ContiguousPoolElements(cache.capacity_slots(), num_kv_heads_, head_dim_);
  }
}

int64_t KvPlacement::total_bytes() const {
  return 2 * num_layers_ * (array_elements_ / head_dim_) * KvRowBytes(type_, head_dim_);
}

void KvPlacement::Place(const StepBatch& batch, const KvCache& cache,
                        std::vector<AttentionSequence>& sequences) const {
  sequences.clear();
  int64_t row = 0;
  for (const StepEntry& entry : batch.entries) {
    sequences.push_back(Place(cache.slots(entry.sequence), row, entry.count, entry.context()));
    row += entry.count;
  }
}

AttentionSequence KvPlacement::Place(const SlotView& slots, int64_t first_query,
                                     int64_t num_queries, int64_t context) const {
  AttentionSequence sequence;
  sequence.first_query = first_query;
  sequence.num_queries = static_cast<int32_t>(num_queries);
  sequence.context = static_cast<int32_t>(context);
  if (slots.block_size > 0) {
    sequence.blocks = slots.blocks.data();
  } else {
    const ContiguousPlacement place =
        PlaceContiguous(slots.first_slot, slots.chunk_slots, num_kv_heads_, head_dim_);
    sequence.base = place.base;
    sequence.head_stride = place.head_stride;
  }
  return sequence;
}

AttentionSequence KvPlacement::Place(const SlotRange& range) const {
  if (layout_.block_size > 0) {
    AttentionSequence block;
    block.base = range.first_slot / layout_.block_size * layout_.block_stride;
    block.head_stride = layout_.head_stride;
    return block;
  }
  SlotView chunk;
  chunk.first_slot = range.first_slot;
  chunk.chunk_slots = range.slots;
  return Place(chunk, 0, 0, 0);
}

int64_t KvPlacement::copy_elements() const {
  return layout_.block_size > 0 ? layout_.block_stride : (kContiguousUnit + 1) * head_dim_;
}

int64_t KvPlacement::MostCopies(int64_t tokens) const {
  return layout_.block_size > 0 ? 1 : num_kv_heads_ * (tokens / (kContiguousUnit + 1) + 1);
}

void KvPlacement::ListCopies(const Operation& operation, std::vector<BlockPair>& pairs) const {
  pairs.clear();
  const AttentionSequence from = Place(operation.from);
  const AttentionSequence to = Place(operation.to);
  const auto add = [&](int64_t source, int64_t target) {
    pairs.push_back({static_cast<int32_t>(source), static_cast<int32_t>(target)});
  };
  const int64_t piece = copy_elements();
  if (layout_.block_size > 0) {
    add(from.base / piece, to.base / piece);
    return;
  }
  // Chunks and heads begin at whole pieces. What is copied behind the last token lies in the same
  // head's rows and is written before it is read.
  const int64_t pieces = (operation.tokens + kContiguousUnit) / (kContiguousUnit + 1);
  for (int64_t head = 0; head < num_kv_heads_; ++head) {
    const int64_t source = (from.base + head * from.head_stride) / piece;
    const int64_t target = (to.base + head * to.head_stride) / piece;
    for (int64_t i = 0; i < pieces; ++i) {
      add(source + i, target + i);
    }
  }
}

int64_t BlocksOf(std::span<const AttentionSequence> sequences, int32_t block_size) {
  int64_t blocks = 0;
  for (const AttentionSequence& sequence : sequences) {
    blocks += block_size > 0 ? (sequence.context + block_size - 1) / block_size : 0;
  }
  return blocks;
}

}  // namespace kvbench
