#pragma once

#include "kernels/cuda/dummy_weights_params.h"
#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/kernel_table.h"
#include "kernels/dummy_weights.h"

namespace kvbench {
inline namespace KV_SPACE {

/// Weights are drawn where they are needed: drawing and copying those of a large model on the host
/// would take longer than a run.
template <typename T>
struct DummyWeights {
  using Params = DummyWeightsParams;
  static constexpr int kThreads = kPieceThreads;
  static constexpr int kCtasPerSm = 8;

  KV_DEVICE static void Run(const Params& p) {
    ForEachFour(CtaX(), p.count, [&](int64_t i) {
      float values[4];
      for (int j = 0; j < 4; ++j) {
        values[j] = DummyWeight(p.seed, static_cast<uint64_t>(i + j), p.range);
      }
      Store8(Global<T>{static_cast<T*>(p.out)} + i, PackFour<T>(values));
    });
  }
};

/// "dummy_weights/fp16", "dummy_weights/bf16".
void AddDummyWeightsKernels(KernelTable& table);

}  // namespace KV_SPACE
}  // namespace kvbench
