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

int64_t BlocksOf(std::span<const AttentionSequence> sequences, int32_t block_size) {
  int64_t blocks = 0;
  for (const AttentionSequence& sequence : sequences) {
    blocks += block_size > 0 ? (sequence.context + block_size - 1) / block_size : 0;
  }
  return blocks;
}

}  // namespace kvbench
