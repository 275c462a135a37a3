#pragma once

#include "kernels/cuda/kernel_table.h"
#include "kernels/cuda/rope_params.h"
#include "kernels/cuda/vectors.h"

namespace kvbench {
inline namespace KV_SPACE {

/// One CTA a row; a thread takes four neighbouring pairs at a time.
struct Rope {
  using Params = RopeParams;
  static constexpr int kThreads = 128;
  static constexpr int kCtasPerSm = 8;

  KV_DEVICE static void Run(const Params& p) {
    const int32_t half = p.head_dim / 2;
    const int32_t head_chunks = half / 4;
    const int64_t table_row = int64_t{half} * Load(p.positions + CtaX());
    for (int32_t chunk = ThreadId(); chunk < p.heads * head_chunks; chunk += kThreads) {
      const int32_t head = chunk / head_chunks;
      const int32_t i = 4 * (chunk % head_chunks);
      float cosines[4];
      float sines[4];
      float first[4];
      float second[4];
      const Global<float> at = p.x + (CtaX() * p.row_stride + head * p.head_dim + i);
      LoadFloats(p.cosines + (table_row + i), cosines);
      LoadFloats(p.sines + (table_row + i), sines);
      LoadFloats(at, first);
      LoadFloats(at + half, second);
      for (int j = 0; j < 4; ++j) {
        const float a = first[j];
        const float b = second[j];
        first[j] = a * cosines[j] - b * sines[j];
        second[j] = b * cosines[j] + a * sines[j];
      }
      StoreFloats(at, first);
      StoreFloats(at + half, second);
    }
  }
};

/// "rope".
void AddRopeKernels(KernelTable& table);

}  // namespace KV_SPACE
}  // namespace kvbench
