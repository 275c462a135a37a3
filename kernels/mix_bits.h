#pragma once

#include <cstdint>

namespace kvbench {

/// A step of splitmix64, its increment. (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014.)
inline constexpr uint64_t kMixIncrement = 0x9e3779b97f4a7c15u;

/// Output of splitmix64 for the state x: all 64 bits depend on all of x's, so that counters and
/// small numbers become well-spread ones, the same everywhere.
constexpr uint64_t MixBits(uint64_t x) {
  x += kMixIncrement;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace kvbench
