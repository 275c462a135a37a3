#pragma once

#include <memory>

#include "kernels/attention.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/thread_pool.h"

namespace kvbench {

// clang-format off
// The ladder: what changed, what was expected, what it gave. MHA decode in fp16 on one thread of an AMD EPYC (Zen 3,
// AVX2), 8 KV heads, 384 MiB of KV, blocks of 16 shuffled. Shares of the read roof, medians of interleaved runs while
// other programs ran (good to about 5 points), for head dim 64 | 128:
//  1. K and V converted in registers, 8 keys summed side by side and reduced together, softmax once a tile of 64 keys,
//     page-order walk over all heads, the next head's piece prefetched in a burst. Expected: memory bound.
//     Contiguous 67 | 55 %, paged 66 | 68 %.
//  2. Pieces of 4 KiB of a head for every layout, not a whole block or tile. Expected: a 16 KiB piece and the
//     prefetched next one no longer evict each other. Contiguous 84 | 72 %, paged 69 | 77 %.
//  3. Prefetch 4 KiB ahead of the row in use, across pieces. Expected: fewer stalls. Contiguous 91 | 77 %, paged
//     76 | 70 %; fp32 contiguous 76 -> 87 % at 128.
//  4. Contiguous caches one head at a time. Expected: longer streams, faster. 94 | 66 %, fp32 52 %: not kept.
//  5. A block of a head as a piece, so that blocks are read from end to end. Expected: the
//     hardware prefetcher helps. Blocks of 8 lost 40 %, blocks of 32 gained 20 %: a prefetch
//     reaches no further than the next piece. Not kept.
//  6. Head stride of a contiguous chunk a sixteenth longer, not one token: as fast as no padding, where one token
//     gives 78 | 65 % (kernels/kv_layout.h).
// Shuffled blocks of few bytes are limited by the machine: plain reads of 2 KiB pieces in random order reach 5 of
// 11 GB/s with prefetch, so one or two KV heads of 64 are slower paged. Groups of 4 and 8 reach 50 to 60 % and 35 % of
// the roof: arithmetic, not memory, and not tuned yet.
// clang-format on

/// Attention on the CPU: decode and causal prefill, contiguous and paged, fp16, bf16 and fp32 KV,
/// any group size.
class CpuAttention {
 public:
  explicit CpuAttention(ThreadPool& pool);
  ~CpuAttention();
  CpuAttention(const CpuAttention&) = delete;
  CpuAttention& operator=(const CpuAttention&) = delete;

  /// Runs one layer. `plan` must have been built from call.sequences for the pool's number of
  /// threads; contexts, blocks and bases are read from the call. Writes every row of call.out that
  /// belongs to a sequence's query. Scratch grows to the largest call seen and is kept: a steady
  /// step allocates nothing.
  void Run(const AttentionCall& call, const AttentionPlan& plan);

 private:
  struct Scratch;
  ThreadPool& pool_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace kvbench
