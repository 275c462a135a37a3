#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kvbench {

/// Between the two lies a quantity, with the confidence that was asked for.
struct Interval {
  double low = 0;
  double high = 0;
};

/// Random whole numbers for resampling: SplitMix64, the same on every machine.
class Resampler {
 public:
  explicit Resampler(uint64_t seed) : state_(seed) {}

  uint64_t Next();
  /// Of 0 .. n - 1, each as likely but for one part in 2^64 / n. Precondition: n > 0.
  size_t Below(size_t n);

 private:
  uint64_t state_;
};

struct BootstrapOptions {
  double confidence = 0.95;
  int resamples = 2'000;
  uint64_t seed = 1;
};

/// The percentile bootstrap: the middle `confidence` of what `statistic` says of resamples. It is
/// called `resamples` times. (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter
/// 13; quantiles of type 7.)
Interval Bootstrap(const BootstrapOptions& options,
                   const std::function<double(Resampler&)>& statistic);

/// Bootstrap interval of median(numerator) / median(denominator), both samples resampled apart.
/// Precondition: both have values, all above 0.
Interval BootstrapMedianRatio(std::span<const double> numerator,
                              std::span<const double> denominator, const BootstrapOptions& options);

/// The median of some values, which it reorders. Precondition: not empty.
double MedianInPlace(std::vector<double>& values);

}  // namespace kvbench
