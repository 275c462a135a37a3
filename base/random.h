#pragma once

#include <cstdint>
#include <string_view>

namespace kvbench {

/// A stream of random numbers that is the same everywhere: xoshiro256** (Blackman and Vigna), its
/// state filled by splitmix64 from a seed and the stream's name. Streams of one seed with different
/// names are independent, so that a trace keeps its lengths when its arrivals change.
class RandomStream {
 public:
  RandomStream(uint64_t seed, std::string_view name);

  uint64_t Next();       ///< 64 random bits
  double Uniform();      ///< [0, 1), a multiple of 2^-53
  double OpenUniform();  ///< (0, 1), never an end
  /// One of 0 .. n - 1, n >= 1, without bias.
  uint64_t Below(uint64_t n);
  double Normal();       ///< mean 0, standard deviation 1, by inversion: one uniform a draw
  double Exponential();  ///< mean 1, by inversion
  /// Gamma with that shape > 0 and scale 1: mean and variance are `shape`. Marsaglia and Tsang, "A
  /// simple method for generating gamma variables", 2000.
  double Gamma(double shape);

 private:
  uint64_t state_[4];
};

}  // namespace kvbench
