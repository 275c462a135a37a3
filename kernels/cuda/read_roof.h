#pragma once

#include "kernels/cuda/kernel_table.h"
#include "kernels/cuda/read_roof_params.h"
#include "kernels/cuda/vocabulary.h"

namespace kvbench {
inline namespace KV_SPACE {

/// What a thread reads lies as far apart as there are threads, so that warps read whole lines.
struct ReadAll {
  using Params = ReadRoofParams;
  static constexpr int kThreads = kReadRoofThreads;
  static constexpr int kCtasPerSm = 8;
  static constexpr int kAhead = 4;  // loads under way in a thread

  KV_DEVICE static void Run(const Params& p) {
    const int64_t threads = int64_t{CtaCountX()} * kThreads;
    const int64_t first = int64_t{CtaX()} * kThreads + ThreadId();
    uint32_t sum = 0;
    for (int64_t at = first; at < p.vectors; at += kAhead * threads) {
      Vector16 read[kAhead] = {};
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (at + i * threads < p.vectors) {
          read[i] = Load16(p.data + (at + i * threads));
        }
      }
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        sum ^= read[i].words[0] ^ read[i].words[1] ^ read[i].words[2] ^ read[i].words[3];
      }
    }
    Store(p.sums + first, sum);
  }
};

/// "read_roof".
void AddReadRoofKernels(KernelTable& table);

}  // namespace KV_SPACE
}  // namespace kvbench
