#pragma once

#include <cstdint>

#include "kernels/cuda/address.h"

namespace kvbench {

/// Elements that one CTA of the kernels here takes.
constexpr int32_t kPieceElements = 1024;
constexpr int32_t Pieces(int64_t elements) {
  return static_cast<int32_t>((elements + kPieceElements - 1) / kPieceElements);
}

/// out[r, i] = silu(gate[r, i]) * up[r, i], silu(g) = g / (1 + exp(-g)). Grid: [rows, Pieces(dim)].
struct SiluMulParams {
  Global<const float> gate_up;  ///< [rows, 2 * dim]: gate, then up
  void* out = nullptr;          ///< [rows, dim] of the kernel's type
  int32_t dim = 0;              ///< a multiple of 4
};

/// Floats to the kernel's type, rounded to nearest even. Grid: [Pieces(count)].
struct ConvertParams {
  Global<const float> in;  ///< [count]
  void* out = nullptr;     ///< [count]
  int64_t count = 0;       ///< a multiple of 4
};

/// hidden[r] = table[tokens[r]]. Grid: [rows, Pieces(dim)].
struct EmbedParams {
  Global<const int32_t> tokens;  ///< [rows]
  Global<const float> table;     ///< [vocabulary, dim]
  Global<float> hidden;          ///< [rows, dim]
  int32_t dim = 0;               ///< a multiple of 4
};

}  // namespace kvbench
