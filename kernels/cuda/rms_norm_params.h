#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/address.h"

namespace kvbench {

/// out[r, i] = x[i] / sqrt(mean(x^2) + epsilon) * weight[i], where x is row r of `hidden`, or row
/// indices[r]. The variant with an addition does hidden[row, i] += projected[row, i] before; no row
/// is named twice then. Grid: [rows of out].
struct RmsNormParams {
  Global<float> hidden;           ///< [rows, dim]; written by the variant with an addition alone
  Global<const float> projected;  ///< [rows, dim], numbered as hidden; null without addition
  Global<const float> weight;     ///< [dim]
  Global<const int32_t> indices;  ///< [rows of out], or null: row r of out comes from row r
  void* out = nullptr;            ///< [rows of out, dim] of the kernel's type
  int32_t dim = 0;                ///< a multiple of 4
  float epsilon = 0;
};

/// Dynamic shared memory of a CTA.
constexpr size_t kRmsNormSharedBytes = 32;

}  // namespace kvbench
