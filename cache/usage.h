#pragma once

#include <cstdint>
#include <initializer_list>

namespace kvbench {

/// Where all slots of a cache are at one moment. The five parts add up to the capacity, always.
struct Usage {
  int64_t live = 0;          ///< hold a token of a sequence
  int64_t reserved = 0;      ///< will hold a token of a running sequence before it ends
  int64_t overestimate = 0;  ///< reserved for tokens that the sequence will never have
  int64_t rounding = 0;      ///< beyond what was asked for: buddy chunk, tail of the last block
  int64_t free = 0;

  int64_t capacity() const { return live + reserved + overestimate + rounding + free; }
  int64_t allocated() const { return capacity() - free; }
  bool operator==(const Usage&) const = default;
};

/// The usage after each of n equal steps, summed, so that nobody has to take them one by one.
struct UsageSeries {
  Usage sum;     ///< after step 1, 2, ... n
  Usage moment;  ///< the same, step j weighted with j - 1
};

/// Takes n steps that each add `change` to the usage. Precondition: n >= 0.
inline UsageSeries TakeSteps(Usage& usage, const Usage& change, int64_t n) {
  UsageSeries series;
  const int64_t weights = n * (n - 1) / 2;                // 0 + 1 + ... n - 1
  const int64_t squares = (n - 1) * n * (2 * n - 1) / 6;  // 0 + 1 + 4 + ... (n - 1)^2
  for (const auto part :
       {&Usage::live, &Usage::reserved, &Usage::overestimate, &Usage::rounding, &Usage::free}) {
    const int64_t first = usage.*part + change.*part;
    series.sum.*part = first * n + change.*part * weights;
    series.moment.*part = first * weights + change.*part * squares;
    usage.*part += change.*part * n;
  }
  return series;
}

/// Equal steps at most that are taken at once: with it no sum above passes 63 bits in a cache of
/// 2^31 slots.
constexpr int64_t kMaxEqualSteps = 4096;

}  // namespace kvbench
