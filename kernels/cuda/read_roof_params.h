#pragma once

#include <cstdint>

#include "kernels/cuda/address.h"

namespace kvbench {

/// Reads memory once, 16 bytes a load, all CTAs together. Grid: any number of CTAs of
/// kReadRoofThreads.
struct ReadRoofParams {
  Global<const Vector16> data;  ///< [vectors]
  int64_t vectors = 0;
  Global<uint32_t> sums;  ///< [threads of all CTAs]: exclusive or of the words that a thread read
};

constexpr int kReadRoofThreads = 256;

}  // namespace kvbench
