#pragma once

#include <cstdint>

#include "kernels/attention.h"

namespace kvbench {

// clang-format off
// The layouts that kvbench runs with. Inside a block the order is [kv_head, token, head_dim] ("head first"); a
// contiguous sequence is one block as long as its chunk of slots. All sizes are elements of the KV type, for K or V of
// one layer.
//
// Chosen by measuring decode attention on one thread of an AMD EPYC (Zen 3, AVX2), fp16, 384 MiB of KV, sequences of
// 1,024 tokens; medians of interleaved runs in one process, in GB/s. Compare within a row.
//
//   KV heads x head dim, group | block 16 shuffled        | contiguous, by spare room of the head stride
//                              | head first | token first | none | one token | 1/16 | token first
//   8 x 64, MHA                | 8.8        | 4.5         | 10.9 | 9.5       | 10.4 | 5.1
//   8 x 128, MHA               | 8.1        | 5.1         | 8.5  | 7.2       | 8.5  | 5.5
//   32 x 128, MHA              | 7.6        | 7.7         | 7.4  | 6.2       | 7.4  | 8.0
//   8 x 128, GQA-4             | 5.9        | 4.4         | 6.6  | 5.6       | 6.6  | 4.7
//   2 x 64, GQA-4              | 3.7        | 3.6         | 5.7  | 5.6       | 5.8  | 5.0
//
// Token first puts a head's rows a large stride apart, and eight rows at a time fall into few cache sets. One spare
// token moves the heads off a power of two, but also off the 4 KiB pages that a head's rows are read in; a sixteenth of
// the chunk does the first without the second.
// clang-format on

/// [block, kv_head, token, head_dim].
KvLayout PagedLayout(int32_t block_size, int32_t num_kv_heads, int32_t head_dim);

/// [kv_head, token, head_dim] for each sequence; its place comes from PlaceContiguous.
KvLayout ContiguousLayout(int32_t num_kv_heads, int32_t head_dim);

/// Elements of a paged pool of `num_blocks` blocks.
int64_t PagedPoolElements(const KvLayout& layout, int64_t num_blocks);

/// Slots of the smallest chunk that a contiguous design hands out; chunks start at multiples of it.
constexpr int32_t kContiguousUnit = 16;

/// Whether a contiguous sequence's head stride is a sixteenth longer than its chunk. Chunks are
/// powers of two, and heads a power of two apart fall into the same cache sets.
enum class HeadStride : int32_t { kPadded, kUnpadded };

/// Elements of a contiguous pool of `num_slots` slots: one spare token for each 16 slots if padded.
int64_t ContiguousPoolElements(int64_t num_slots, int32_t num_kv_heads, int32_t head_dim,
                               HeadStride stride = HeadStride::kPadded);

struct ContiguousPlacement {
  int64_t base = 0;         ///< element offset of (head 0, token 0): AttentionSequence::base
  int64_t head_stride = 0;  ///< elements between heads: AttentionSequence::head_stride
};

/// Where the sequence that holds the chunk [first_slot, first_slot + chunk_slots) lies. Both must
/// be multiples of kContiguousUnit when padded; chunks that do not overlap in slots do not overlap
/// in the pool.
ContiguousPlacement PlaceContiguous(int64_t first_slot, int64_t chunk_slots, int32_t num_kv_heads,
                                    int32_t head_dim, HeadStride stride = HeadStride::kPadded);

}  // namespace kvbench
