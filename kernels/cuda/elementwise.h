#pragma once

#include "kernels/cuda/elementwise_params.h"
#include "kernels/cuda/kernel_table.h"
#include "kernels/cuda/vectors.h"

namespace kvbench {
inline namespace KV_SPACE {

constexpr int kPieceThreads = 128;

/// Calls visit(i) for the elements i, i + 1, i + 2, i + 3 that this thread has of a piece.
template <typename Visit>
KV_DEVICE void ForEachFour(int32_t piece, int64_t count, const Visit& visit) {
  const int64_t first = int64_t{kPieceElements} * piece;
  for (int32_t i = 4 * ThreadId(); i < kPieceElements; i += 4 * kPieceThreads) {
    if (first + i < count) {
      visit(first + i);
    }
  }
}

template <typename T>
struct SiluMul {
  using Params = SiluMulParams;
  static constexpr int kThreads = kPieceThreads;
  static constexpr int kCtasPerSm = 8;

  KV_DEVICE static void Run(const Params& p) {
    const int64_t row = int64_t{CtaX()} * p.dim;
    ForEachFour(CtaY(), p.dim, [&](int64_t i) {
      float gate[4];
      float up[4];
      LoadFloats(p.gate_up + (2 * row + i), gate);
      LoadFloats(p.gate_up + (2 * row + p.dim + i), up);
      for (int j = 0; j < 4; ++j) {
        constexpr float kLog2E = 1.44269504f;
        gate[j] = gate[j] / (1 + Exp2(-kLog2E * gate[j])) * up[j];
      }
      Store8(Global<T>{static_cast<T*>(p.out)} + (row + i), PackFour<T>(gate));
    });
  }
};

template <typename T>
struct Convert {
  using Params = ConvertParams;
  static constexpr int kThreads = kPieceThreads;
  static constexpr int kCtasPerSm = 8;

  KV_DEVICE static void Run(const Params& p) {
    ForEachFour(CtaX(), p.count, [&](int64_t i) {
      float values[4];
      LoadFloats(p.in + i, values);
      Store8(Global<T>{static_cast<T*>(p.out)} + i, PackFour<T>(values));
    });
  }
};

struct Embed {
  using Params = EmbedParams;
  static constexpr int kThreads = kPieceThreads;
  static constexpr int kCtasPerSm = 8;

  KV_DEVICE static void Run(const Params& p) {
    const int64_t token = Load(p.tokens + CtaX());
    ForEachFour(CtaY(), p.dim, [&](int64_t i) {
      Store16(p.hidden + (int64_t{CtaX()} * p.dim + i), Load16(p.table + (token * p.dim + i)));
    });
  }
};

/// "silu_mul/T" and "convert/T", T fp16 or bf16; "embed".
void AddElementwiseKernels(KernelTable& table);

}  // namespace KV_SPACE
}  // namespace kvbench
