#pragma once

#include <cstdint>
#include <span>

namespace kvbench {

/// Element type of a KV pool. Elements of kInt8 are times a scale of their own (token, KV head): an
/// array of floats beside the pool, one for each head_dim elements of it.
enum class KvType : int32_t { kFp16, kBf16, kFp32, kInt8 };
constexpr int KvTypeBytes(KvType type) {
  return type == KvType::kFp32 ? 4 : type == KvType::kInt8 ? 1 : 2;
}
/// Bytes of one token's K (or V) of one KV head, its scale included.
constexpr int64_t KvRowBytes(KvType type, int64_t head_dim) {
  return head_dim * KvTypeBytes(type) +
         (type == KvType::kInt8 ? static_cast<int64_t>(sizeof(float)) : 0);
}

/// How the tokens of one layer's pool lie in memory, in elements of the KV type. K and V are two
/// arrays of the same layout. The element of (block b, KV head h, token t of the block, dimension
/// i) is at
///   b * block_stride + h * head_stride + t * token_stride + i.
/// A contiguous cache is the same with one block per sequence: its base and head stride are the
/// sequence's own.
struct KvLayout {
  int32_t block_size = 0;    ///< tokens of a block; 0: contiguous
  int64_t block_stride = 0;  ///< paged only
  int64_t head_stride = 0;   ///< paged only
  int64_t token_stride = 0;
};

/// One sequence of an attention call. Its queries are rows [first_query, first_query + num_queries)
/// of q and out; they are the newest tokens: query j sits at position context - num_queries + j and
/// sees every key up to its own.
struct AttentionSequence {
  int64_t first_query = 0;
  int32_t num_queries = 0;
  int32_t context = 0;              ///< keys in the cache, the queries' own tokens included
  const int32_t* blocks = nullptr;  ///< paged: [ceil(context / block_size)] block numbers
  int64_t base = 0;                 ///< contiguous: element offset of (head 0, token 0) in the pool
  int64_t head_stride = 0;          ///< contiguous: elements from one KV head to the next
};

/// One layer's attention over a step batch: plain pointers and numbers, the same for every kernel
/// and machine.
struct AttentionCall {
  static constexpr int32_t kVersion = 2;
  int32_t version = kVersion;
  KvType kv_type = KvType::kFp16;
  int32_t num_heads = 0;  ///< query heads, a multiple of num_kv_heads
  int32_t num_kv_heads = 0;
  int32_t head_dim = 0;      ///< 64, 80, 96, 128 or 256
  float scale = 0;           ///< usually 1 / sqrt(head_dim)
  const float* q = nullptr;  ///< [rows, num_heads, head_dim]
  int64_t q_row_stride = 0;  ///< floats from one row of q to the next; 0: num_heads * head_dim
  float* out = nullptr;      ///< [rows, num_heads, head_dim]
  const void* k = nullptr;   ///< the layer's K pool
  const void* v = nullptr;   ///< the layer's V pool, same layout
  /// kInt8 only: [pool elements / head_dim]; the row at element offset e has scale e / head_dim.
  /// All strides are multiples of head_dim then.
  const float* k_scales = nullptr;
  const float* v_scales = nullptr;
  KvLayout layout;
  std::span<const AttentionSequence> sequences;
};

/// Writes new tokens' K and V into the pools, converting to the KV type (round to nearest even;
/// kInt8 with scale = largest magnitude of the row / 127).
struct KvWriteCall {
  KvType kv_type = KvType::kFp16;
  int32_t num_kv_heads = 0;
  int32_t head_dim = 0;
  const float* k = nullptr;  ///< [rows, num_kv_heads, head_dim]
  const float* v = nullptr;  ///< [rows, num_kv_heads, head_dim]
  int64_t row_stride = 0;    ///< floats from one row of k (and of v) to the next
  void* k_pool = nullptr;
  void* v_pool = nullptr;
  float* k_scales = nullptr;  ///< kInt8 only, as in AttentionCall
  float* v_scales = nullptr;
  KvLayout layout;
  std::span<const AttentionSequence> sequences;  ///< the tokens written are the sequences' queries
};

/// Bytes of K and V that an attention call needs to read at least: each sequence's context once,
/// both K and V with their scales, all KV heads, whatever the group size.
inline int64_t AttentionKvBytes(const AttentionCall& call) {
  int64_t tokens = 0;
  for (const AttentionSequence& sequence : call.sequences) {
    if (sequence.num_queries > 0) tokens += sequence.context;
  }
  return tokens * 2 * call.num_kv_heads * KvRowBytes(call.kv_type, call.head_dim);
}

}  // namespace kvbench
