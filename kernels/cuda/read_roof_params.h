#pragma once

#include <cstdint>

#include "kernels/cuda/address.h"

namespace kvbench {

/// Reads an array once, in 16-byte loads, and adds up its words: what a device reads at best. Grid:
/// any number of CTAs of kReadRoofThreads; those that run at once are right.
struct ReadRoofParams {
  Global<const Vector16> from;
  int64_t vectors = 0;    ///< of 16 bytes
  Global<uint32_t> sums;  ///< [CTAs, kReadRoofWarps]: modulo 2^32, of what each warp read
};

constexpr int kReadRoofThreads = 512;
constexpr int kReadRoofWarps = kReadRoofThreads / 32;

}  // namespace kvbench
