#pragma once

#include <cstdint>

#include "kernels/cuda/address.h"

namespace kvbench {

/// Rotary embedding in place, as ApplyRope (kernels/cpu/elementwise.h) does it: dimension i of a
/// head's first half pairs with i of its second. Grid: [rows].
struct RopeParams {
  Global<float> x;                  ///< [rows, heads, head_dim], rows row_stride floats apart
  int64_t row_stride = 0;           ///< floats, a multiple of 4
  Global<const int32_t> positions;  ///< [rows]
  Global<const float> cosines;      ///< [max positions, head_dim / 2]: RopeTable's
  Global<const float> sines;        ///< likewise
  int32_t heads = 0;                ///< Q's, and K's behind them
  int32_t head_dim = 0;             ///< a multiple of 8
};

}  // namespace kvbench
