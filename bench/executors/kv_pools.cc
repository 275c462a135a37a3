#include "bench/executors/kv_pools.h"

#include <cstddef>

#include "kernels/kv_layout.h"

namespace kvbench {

namespace {

KvLayout LayoutFor(const ModelShape& model, const KvCache& cache) {
  const auto kv_heads = static_cast<int32_t>(model.num_key_value_heads);
  const auto head_dim = static_cast<int32_t>(model.head_dim);
  return cache.block_size() > 0 ? PagedLayout(cache.block_size(), kv_heads, head_dim)
                                : ContiguousLayout(kv_heads, head_dim);
}

/// Elements of K (or V) of one layer.
int64_t ArrayElements(const ModelShape& model, const KvCache& cache) {
  const auto kv_heads = static_cast<int32_t>(model.num_key_value_heads);
  const auto head_dim = static_cast<int32_t>(model.head_dim);
  if (cache.block_size() > 0) {
    return PagedPoolElements(LayoutFor(model, cache), cache.capacity_slots() / cache.block_size());
  }
  return ContiguousPoolElements(cache.capacity_slots(), kv_heads, head_dim);
}

}  // namespace

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

int64_t KvPools::Bytes(const ModelShape& model, KvType type, const KvCache& cache) {
  return 2 * model.num_hidden_layers * (ArrayElements(model, cache) / model.head_dim) *
         KvRowBytes(type, model.head_dim);
}

KvPools::KvPools(const ModelShape& model, KvType type, const KvCache& cache)
    : type_(type),
      num_kv_heads_(static_cast<int32_t>(model.num_key_value_heads)),
      head_dim_(static_cast<int32_t>(model.head_dim)),
      layout_(LayoutFor(model, cache)) {
  const auto bytes = static_cast<size_t>(ArrayElements(model, cache) * KvTypeBytes(type));
  for (int64_t i = 0; i < 2 * model.num_hidden_layers; ++i) {
    arrays_.emplace_back(bytes).Touch();
    if (type == KvType::kInt8) {
      const int64_t rows = ArrayElements(model, cache) / model.head_dim;
      scales_.emplace_back(static_cast<size_t>(rows) * sizeof(float)).Touch();
    }
  }
}

int64_t KvPools::bytes() const {
  int64_t sum = 0;
  for (const std::vector<Buffer>* buffers : {&arrays_, &scales_}) {
    for (const Buffer& buffer : *buffers) {
      sum += static_cast<int64_t>(buffer.size());
    }
  }
  return sum;
}

void KvPools::Place(const StepBatch& batch, const KvCache& cache,
                    std::vector<AttentionSequence>& sequences) const {
  sequences.clear();
  int64_t row = 0;
  for (const StepEntry& entry : batch.entries) {
    sequences.push_back(Place(cache.slots(entry.sequence), row, entry.count, entry.context()));
    row += entry.count;
  }
}

AttentionSequence KvPools::Place(const SlotView& slots, int64_t first_query, int64_t num_queries,
                                 int64_t context) const {
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

}  // namespace kvbench
