#pragma once

#include "kernels/cuda/kernel_table.h"
#include "kernels/cuda/reductions.h"
#include "kernels/cuda/rms_norm_params.h"
#include "kernels/cuda/vectors.h"

namespace kvbench {
inline namespace KV_SPACE {

/// One CTA a row. The row is read twice, the second time from a near cache.
template <typename T, bool kAdd>
struct RmsNorm {
  using Params = RmsNormParams;
  static constexpr int kThreads = 256;
  static constexpr int kCtasPerSm = 4;
  static constexpr int kWarps = kThreads / kWarpSize;
  static_assert(kRmsNormSharedBytes == kWarps * sizeof(float));

  KV_DEVICE static void Run(const Params& p) {
    const int64_t row = p.indices.address == nullptr ? CtaX() : Load(p.indices + CtaX());
    const Global<float> hidden = p.hidden + row * p.dim;
    float squares = 0;
    for (int32_t i = 4 * ThreadId(); i < p.dim; i += 4 * kThreads) {
      float x[4];
      LoadFloats(hidden + i, x);
      if constexpr (kAdd) {
        float added[4];
        LoadFloats(p.projected + (row * p.dim + i), added);
        for (int j = 0; j < 4; ++j) {
          x[j] += added[j];
        }
        StoreFloats(hidden + i, x);
      }
      for (int j = 0; j < 4; ++j) {
        squares += x[j] * x[j];
      }
    }
    squares = ReduceCta<Sum, kWarps>(squares, DynamicShared<float>(0));
    const float factor = ReciprocalSqrt(squares / static_cast<float>(p.dim) + p.epsilon);
    const Global<T> out = Global<T>{static_cast<T*>(p.out)} + CtaX() * int64_t{p.dim};
    for (int32_t i = 4 * ThreadId(); i < p.dim; i += 4 * kThreads) {
      float x[4];
      float weights[4];
      LoadFloats(hidden + i, x);
      LoadFloats(p.weight + i, weights);
      for (int j = 0; j < 4; ++j) {
        x[j] = x[j] * factor * weights[j];
      }
      Store8(out + i, PackFour<T>(x));
    }
  }
};

/// "rms_norm/T" and "add_rms_norm/T", T fp16 or bf16.
void AddRmsNormKernels(KernelTable& table);

}  // namespace KV_SPACE
}  // namespace kvbench
