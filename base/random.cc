#include "base/random.h"

#include <bit>
#include <cmath>

#include "base/portable_math.h"

namespace kvbench {
namespace {

/// Steele, Lea and Flood: spreads a counter over 64 bits.
uint64_t SplitMix64(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// FNV-1a of the stream's name.
uint64_t HashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

RandomStream::RandomStream(uint64_t seed, std::string_view name) {
  uint64_t name_state = HashName(name);
  uint64_t state = seed;
  state = SplitMix64(state) ^ SplitMix64(name_state);
  for (uint64_t& word : state_) {
    word = SplitMix64(state);
  }
}

uint64_t RandomStream::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double RandomStream::Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

double RandomStream::OpenUniform() { return (static_cast<double>(Next() >> 12) + 0.5) * 0x1.0p-52; }

uint64_t RandomStream::Below(uint64_t n) {
  // The first 2^64 mod n values would come up once more often than the others.
  const uint64_t surplus = (0 - n) % n;
  for (;;) {
    const uint64_t bits = Next();
    if (bits >= surplus) {
      return bits % n;
    }
  }
}

double RandomStream::Normal() { return NormalQuantile(OpenUniform()); }

double RandomStream::Exponential() { return -Ln(OpenUniform()); }

double RandomStream::Gamma(double shape) {
  if (shape < 1.0) {
    // Gamma(k) = Gamma(k + 1) U^(1 / k).
    const double larger = Gamma(shape + 1.0);
    return larger * Exp(Ln(OpenUniform()) / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = Normal();
    const double root = 1.0 + c * x;
    if (root <= 0.0) {
      continue;
    }
    const double v = root * root * root;
    const double u = OpenUniform();
    if (u < 1.0 - 0.0331 * (x * x) * (x * x) || Ln(u) < 0.5 * x * x + d * (1.0 - v + Ln(v))) {
      return d * v;
    }
  }
}

}  // namespace kvbench
