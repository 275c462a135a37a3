#pragma once

#include "kernels/cuda/kernel_table.h"
#include "kernels/cuda/read_roof_params.h"
#include "kernels/cuda/vocabulary.h"

namespace kvbench {
inline namespace KV_SPACE {

/// The whole grid goes through the array in step, eight loads of each thread under way.
struct ReadRoof {
  using Params = ReadRoofParams;
  static constexpr int kThreads = kReadRoofThreads;
  static constexpr int kCtasPerSm = 2;
  static constexpr int kAhead = 8;

  KV_DEVICE static void Run(const Params& p) {
    const int64_t stride = int64_t{CtaCountX()} * kThreads;
    uint32_t sum = 0;
    for (int64_t first = int64_t{CtaX()} * kThreads + ThreadId(); first < p.vectors;
         first += kAhead * stride) {
      Vector16 held[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const int64_t at = first + i * stride;
        held[i] = at < p.vectors ? Load16(p.from + at) : Vector16{};
      }
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        sum += held[i].words[0] + held[i].words[1] + held[i].words[2] + held[i].words[3];
      }
    }
    for (int lanes = kWarpSize / 2; lanes > 0; lanes /= 2) {
      sum += ShuffleXor(sum, lanes);
    }
    if (LaneId() == 0) {
      Store(p.sums + (int64_t{CtaX()} * kReadRoofWarps + WarpId()), sum);
    }
  }
};

/// "read_roof".
void AddReadRoofKernels(KernelTable& table);

}  // namespace KV_SPACE
}  // namespace kvbench
