#pragma once

#include <cstdint>

#include "kernels/attention.h"

namespace kvbench {

/// The oracle: attention as the formula says, double sums, one element at a time.

/// Every row of every sequence. @param out [rows, num_heads, head_dim], as call.out, which is not
/// written
void ReferenceAttention(const AttentionCall& call, double* out);

/// One output row: query `query` of sequence number `sequence`, query head `head`. @param out
/// [head_dim]
void ReferenceAttentionRow(const AttentionCall& call, int64_t sequence, int32_t query, int32_t head,
                           double* out);

/// Element offset in a pool of (sequence, KV head, position, dimension 0).
int64_t KvElementOffset(const KvLayout& layout, const AttentionSequence& sequence, int32_t kv_head,
                        int32_t position);

/// Element `index` of a pool, exactly; of kInt8 without its scale.
double ReadKvElement(const void* pool, KvType type, int64_t index);

/// What the elements of the row at an element offset are to be multiplied by: its scale, 1 for
/// types without.
double KvRowScale(const float* scales, KvType type, int64_t offset, int32_t head_dim);

}  // namespace kvbench
