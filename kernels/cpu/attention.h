#pragma once

#include <memory>

#include "kernels/attention.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/prefetch_level.h"
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
// From here on another machine, a Zen 5 (AVX-512), whose one thread reads 40 GB/s; head dim 128, contiguous | paged,
// where step 6 gives MHA 61 | 53 %, GQA-4 51 | 46 %, GQA-8 36 | 32 % of the roof. Compute and memory took turns: 50
// GB/s in cache and 40 from memory make 24 together.
//  7. Contiguous heads one after the other (step 4 again), a tile as one piece, 8 KiB ahead instead of 4. Expected: one
//     stream that the hardware prefetcher follows. MHA contiguous 85 %.
//  8. A cursor of its own for what is prefetched, two pages ahead, across K, V and the next tile. Expected: the reach
//     that step 5 lacked. Runs of two pages of a head for one or two rows, of a tile for more; blocks of more than a
//     tile like contiguous ones. MHA paged 65 % (blocks of 64: 78, of 256: 80 %), GQA-8 contiguous 41 %.
//  9. K row by row for MHA, unrolled; a group's query vector loaded once for its keys; 16 sums of V where there are 32
//     registers; sums across 16 lanes by blends and one shuffle instead of two. Expected: less to do beside the reads.
//     In cache MHA 50 -> 62 GB/s, GQA-4 27 -> 31, GQA-8 13 -> 16. From memory GQA-4 67 | 61 %, GQA-8 43 | 41 %.
// 10. Scores of 8 rows as 4 rows by 4 keys, twice, instead of 8 by 2. Expected: fewer loads of the query, which are as
//     many as the multiply-adds. GQA-8 in cache 17.3 -> 19.1 GB/s, from memory 17.0 -> 18.7 (46 % contiguous, 45 %
//     paged). The query forced into registers gave nothing more.
// 11. int8 in contiguous caches with all heads side by side, as blocks have them, and head dim 128 as a constant.
//     Expected: the softmax of one head overlaps with the next head's scores (in cache 24 GB/s contiguous, 28 paged).
//     MHA int8 contiguous 21.6 -> 24.5 GB/s: 1.5 instead of 1.3 times the tokens of fp16. fp16 so lost a quarter (one
//     stream is worth more there); prefetches of 16 rows line by line instead of row by row lost as much, tiles of 128
//     keys gave nothing.
// From here on a Zen 4 (AVX-512 on 256-bit data paths), whose one thread reads 28 GB/s, and where
// step 11 gives MHA 60 | 47 %, GQA-4 36 | 32 %, GQA-8 25 | 27 % of the roof, MHA int8 34 %
// contiguous. In cache these are 38, 18, 9 and (int8) 20 GB/s: they took turns with memory again.
// Where the first level is the faster one, steps 12 and 15 change nothing.
// 12. Prefetches into the second level where that reads scattered pieces faster (prefetch_level.h).
//     Expected: a prefetch into the first holds one of 24 miss buffers, which the loads then lack.
//     MHA 73 | 68 %, GQA-4 55 | 51 %, GQA-8 31 | 31 %, int8 65 %. Both, the first level 2 or 4 rows
//     ahead: slower. 4, 12, 16 or 24 KiB ahead instead of 8: the same within 3 points, or less for
//     MHA contiguous.
// 13. A page of a head as a piece for one or two rows too. Expected: fewer streams at a time.
//     Blocks of 8 57 -> 64 % of the roof, of 1 47 -> 53 %; in cache the same.
// 14. MHA's prefetches row by row, as it reads, not those of 16 rows at once. In cache 39 -> 42
//     GB/s.
// 15. Streams, one head of a contiguous cache or blocks of 128 KiB: one prefetch for 256 bytes, for
//     contiguous ones 16 KiB ahead. Expected: the hardware follows them, and prefetches of every
//     line are in its way (plain reads in order: 20 GB/s with all of them 8 KiB ahead, 30 with one
//     in four). MHA contiguous 73 -> 86 %, blocks of 64 72 -> 76 %. None at all: 70 to 92 %, as
//     other programs leave it. For groups and for blocks of 16 and less it loses a quarter to a
//     half.
//     Not kept: 256-bit vectors, with 32 or 16 registers (in cache MHA 5 to 10 % slower, GQA-8 3 %
//     faster at best); large blocks head by head inside a block; runs of a block for groups; an exp
//     of a third of the instructions (the softmax of a row waits for its own results).
// What limits paged caches is the order of the addresses. Reads of shuffled blocks of 8 heads without any arithmetic, K
// and V in turns of 128 KiB, the better of with and without prefetch 8 KiB ahead, over reads in order (Zen 5,
// one thread, 41 GB/s), and below it what paged MHA reaches of contiguous MHA:
//   block        1     2     4     8     16    32    64    128   256
//   reads alone  71 %  71 %  79 %  78 %  84 %  94 %  96 %  97 %  98 %
//   paged MHA    64 %  75 %  77 %  73 %  76 %  82 %  93 %  90 %  95 %
// On the Zen 4 (28 GB/s), reads prefetched into the second level, the best of 4 to 32 KiB ahead:
//   reads alone  65 %  68 %  60 %  65 %  77 %  83 %  86 %  93 %  98 %
//   paged MHA    54 %  63 %  66 %  72 %  80 %  86 %  87 %  87 %  86 %
// Groups lose less, being bound by arithmetic: the same reads in a tile's order, each vector
// converted and multiplied and added for 4 rows and nothing else, reach 26 GB/s in order and 22
// shuffled in blocks of 16, which is 85 to 88 %; for 8 rows 14.2 and 13.5, 95 %. (Reads alone: 93
// to 99 %, where both are prefetched line by line.) Paged GQA-4 has 92 to 101 % of contiguous
// GQA-4.
// Two threads share the memory: there contiguous MHA reaches 84 to 98 % of the roof, and paged 87 % of that.
// GQA-8 does 128 fused multiply-adds on 16 lanes for 512 bytes: at the measured peak (8.1 billion a second) 32 GB/s, so
// it reaches 60 % of that in cache: sums across lanes, and K converted twice, are the rest. int8 is bound by
// instructions with any group.
// On the Zen 4, conversions and multiply-adds alone reach 59 GB/s in cache for MHA, 28 for GQA-4
// and 14.5 for GQA-8 (3.6 billion multiply-adds a second; conversions go beside them), so that 45 %
// of the roof are 88 % of what GQA-8 has at best. It reaches 9.3 (64 %; GQA-4 18, 63 %; MHA 42, 71
// %): in a profile the scores are 48 % of the time, the values 41 %, the softmax 11 %. 16 sums
// across lanes take some 42 cycles beside the 128 of their multiply-adds, blends and shuffles on
// the same ports, and converting K twice 10 more. From memory GQA-8 loses nothing, GQA-4 a tenth.
// On the first machine shuffled blocks of few bytes were limited alike: plain reads of 2 KiB pieces in random order
// reach 5 of 11 GB/s with prefetch, so one or two KV heads of 64 are slower paged.
// clang-format on

/// Attention on the CPU: decode and causal prefill, contiguous and paged, fp16, bf16, fp32 and int8
/// KV, any group size.
class CpuAttention {
 public:
  explicit CpuAttention(ThreadPool& pool, PrefetchLevel prefetch = FasterPrefetchLevel());
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
  PrefetchLevel prefetch_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace kvbench
