#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/mix_bits.h"

namespace kvbench {

/// Dummy weights of a dense layer are drawn evenly from +- this, so that outputs keep the inputs'
/// variance. @param in inputs of the layer
inline float DummyWeightRange(int64_t in) { return std::sqrt(3.0f / static_cast<float>(in)); }

/// Weight number `index` of [out, in], in fp32. The same seed gives the same bits on every machine.
/// @param range DummyWeightRange(in)
constexpr float DummyWeight(uint64_t seed, uint64_t index, float range) {
  const auto bits = static_cast<int32_t>(MixBits(seed + index * kMixIncrement) >> 40);
  return static_cast<float>(bits - (1 << 23)) * 0x1p-23f * range;
}

}  // namespace kvbench
