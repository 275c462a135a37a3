#pragma once

#include <cstdint>

namespace kvbench {

/// Fills a matrix with dummy weights (kernels/dummy_weights.h) rounded to the kernel's type. Grid:
/// [Pieces(count)].
struct DummyWeightsParams {
  void* out = nullptr;  ///< [out width, in width]
  int64_t count = 0;    ///< of its elements, a multiple of 4
  uint64_t seed = 0;
  float range = 0;  ///< DummyWeightRange(in width)
};

}  // namespace kvbench
