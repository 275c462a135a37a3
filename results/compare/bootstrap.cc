#include "results/compare/bootstrap.h"

#include <algorithm>
#include <cassert>

#include "base/statistics.h"

namespace kvbench {

uint64_t Resampler::Next() {
  state_ += 0x9E3779B97F4A7C15U;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

size_t Resampler::Below(size_t n) {
  assert(n > 0);
  // The upper 32 bits times n: samples are far fewer than 2^32.
  return static_cast<size_t>(((Next() >> 32) * static_cast<uint64_t>(n)) >> 32);
}

Interval Bootstrap(const BootstrapOptions& options,
                   const std::function<double(Resampler&)>& statistic) {
  Resampler resampler(options.seed);
  std::vector<double> values(static_cast<size_t>(options.resamples));
  for (double& value : values) {
    value = statistic(resampler);
  }
  std::sort(values.begin(), values.end());
  const double tail = 100 * (1 - options.confidence) / 2;
  return {*Percentile(values, tail), *Percentile(values, 100 - tail)};
}

Interval BootstrapMedianRatio(std::span<const double> numerator,
                              std::span<const double> denominator,
                              const BootstrapOptions& options) {
  assert(!numerator.empty() && !denominator.empty());
  std::vector<double> drawn;
  const auto median = [&](std::span<const double> sample, Resampler& resampler) {
    drawn.resize(sample.size());
    for (double& value : drawn) {
      value = sample[resampler.Below(sample.size())];
    }
    return MedianInPlace(drawn);
  };
  return Bootstrap(options, [&](Resampler& resampler) {
    const double above = median(numerator, resampler);
    return above / median(denominator, resampler);
  });
}

double MedianInPlace(std::vector<double>& values) {
  assert(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  const double below = *std::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

}  // namespace kvbench
