#pragma once

#include <cstdint>

#include "kernels/attention.h"
#include "kernels/cuda/address.h"

namespace kvbench {

/// An AttentionSequence as kernels read it.
struct alignas(16) DeviceSequence {
  int64_t base = 0;         ///< contiguous: element offset of (head 0, token 0)
  int64_t head_stride = 0;  ///< elements from one KV head to the next
  int64_t first_row = 0;    ///< of q and out
  int32_t num_queries = 0;  ///< the newest tokens
  int32_t context = 0;
  int32_t first_block = 0;  ///< paged: where its blocks begin in AttentionParams::blocks
  int32_t padding[3] = {};
};

/// Queries of a sequence against some of its keys; a CTA takes one KV head of it.
struct alignas(16) DeviceItem {
  int32_t sequence = 0;
  int32_t first_query = 0;
  int32_t num_queries = 0;
  int32_t first_key = 0;
  int32_t end_key = 0;
  int32_t partial_row = -1;  ///< first of num_queries partial rows; -1: the only item, writes `out`
  int32_t padding[2] = {};
};

/// What an attention kernel is told.
struct AttentionParams {
  Global<const float> q;  ///< [rows, num_heads, head_dim], rows q_row_stride floats apart
  int64_t q_row_stride = 0;
  Global<float> out;        ///< [rows, num_heads, head_dim]
  const void* k = nullptr;  ///< the layer's pool, of the kernel's KV type
  const void* v = nullptr;
  KvLayout layout;
  Global<const int32_t> blocks;  ///< block tables of all sequences, one behind the other
  Global<const DeviceSequence> sequences;
  Global<const DeviceItem> items;
  int32_t num_heads = 0;
  int32_t num_kv_heads = 0;
  float scale_log2 = 0;  ///< of scores, times log2(e): softmax is computed in powers of two
  /// Of items that have a part of the keys: sums of exp2(score - largest) times V, divided by the
  /// sum of weights, and log2 of that sum plus the largest score.
  Global<float> partial_out;  ///< [partial rows, num_heads, head_dim]
  Global<float> partial_lse;  ///< [partial rows, num_heads]
};

/// A query whose keys were spread over items: its partial rows lie `stride` apart.
struct alignas(16) DeviceMerge {
  int64_t row = 0;  ///< of out
  int32_t first_partial = 0;
  int32_t parts = 0;
  int32_t stride = 0;
  int32_t padding[3] = {};
};

struct AttentionMergeParams {
  Global<const DeviceMerge> merges;
  Global<const float> partial_out;  ///< as in AttentionParams
  Global<const float> partial_lse;
  Global<float> out;  ///< [rows, num_heads, head_dim]
  int32_t num_heads = 0;
  int32_t head_dim = 0;
};

}  // namespace kvbench
