#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/int128.h"

namespace kvbench {

/// Many latencies in picoseconds: count, sums, extremes, and either every value or a histogram.
/// Everything is an integer until it is asked for, so the order and grouping of what is added
/// change nothing.
class LatencySamples {
 public:
  enum class Keep {
    kValues,     ///< percentiles are exact (type 7); memory grows with the samples
    kHistogram,  ///< percentiles within kHistogramError; memory is constant
  };

  /// Bound on the relative error of a histogram's percentiles: buckets are 1/128 of a power of two
  /// wide and stand for their middle.
  static constexpr double kHistogramError = 1.0 / 256;

  explicit LatencySamples(Keep keep);

  /// Room for so many values at once, so that adding them allocates no memory; a histogram needs
  /// none.
  void Reserve(int64_t values) {
    if (keep_ == Keep::kValues) {
      values_.reserve(static_cast<size_t>(values));
    }
  }

  /// `times` samples of `ps`. Precondition: ps >= 0, times >= 0.
  void Add(int64_t ps, int64_t times = 1);

  /// `times` samples of first, first + growth, ... first + (steps - 1) * growth each. Precondition:
  /// growth >= 0.
  void AddSeries(int64_t first_ps, int64_t growth_ps, int64_t steps, int64_t times);

  int64_t count() const { return count_; }
  Int128 sum_ps() const { return sum_; }
  int64_t max_ps() const { return max_; }

  /// All nothing for count() = 0. In picoseconds.
  std::optional<double> Mean() const;
  std::optional<double> PopulationStd() const;
  /// Linear interpolation between order statistics (Hyndman and Fan's type 7).
  std::optional<double> Percentile(double percent) const;

 private:
  static constexpr int kBucketBits = 7;  // 128 buckets for each power of two
  static size_t BucketOf(int64_t ps);
  static int64_t LowerEdge(size_t bucket);

  double ValueAt(int64_t rank) const;
  void Sort() const;
  void AddSums(int64_t first_ps, int64_t growth_ps, int64_t steps, int64_t times);

  Keep keep_;
  int64_t count_ = 0;
  Int128 sum_ = 0;
  UInt128 squares_low_ = 0;  // the sum of squares has 192 bits
  uint64_t squares_high_ = 0;
  int64_t min_ = 0;
  int64_t max_ = 0;
  mutable std::vector<std::pair<int64_t, int64_t>> values_;  // (ps, times)
  mutable bool sorted_ = true;
  std::vector<int64_t> buckets_;
};

}  // namespace kvbench
