#include "kernels/kv_layout.h"

#include <cassert>

namespace kvbench {

KvLayout PagedLayout(int32_t block_size, int32_t num_kv_heads, int32_t head_dim) {
  KvLayout layout;
  layout.block_size = block_size;
  layout.token_stride = head_dim;
  layout.head_stride = int64_t{block_size} * head_dim;
  layout.block_stride = layout.head_stride * num_kv_heads;
  return layout;
}

KvLayout ContiguousLayout(int32_t /*num_kv_heads*/, int32_t head_dim) {
  KvLayout layout;
  layout.token_stride = head_dim;
  return layout;
}

int64_t PagedPoolElements(const KvLayout& layout, int64_t num_blocks) {
  return num_blocks * layout.block_stride;
}

int64_t ContiguousPoolElements(int64_t num_slots, int32_t num_kv_heads, int32_t head_dim,
                               HeadStride stride) {
  const int64_t spare =
      stride == HeadStride::kPadded ? (num_slots + kContiguousUnit - 1) / kContiguousUnit : 0;
  return (num_slots + spare) * num_kv_heads * head_dim;
}

ContiguousPlacement PlaceContiguous(int64_t first_slot, int64_t chunk_slots, int32_t num_kv_heads,
                                    int32_t head_dim, HeadStride stride) {
  const int64_t token = int64_t{num_kv_heads} * head_dim;
  if (stride == HeadStride::kUnpadded) return {first_slot * token, chunk_slots * head_dim};
  assert(first_slot % kContiguousUnit == 0 && chunk_slots % kContiguousUnit == 0);
  return {(first_slot + first_slot / kContiguousUnit) * token,
          (chunk_slots + chunk_slots / kContiguousUnit) * head_dim};
}

}  // namespace kvbench
