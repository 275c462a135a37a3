#include "results/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kvbench {

LatencyStats Summarize(std::vector<double>&& ms) {
  std::vector<double> values = std::move(ms);
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) {
    return {};
  }
  std::sort(values.begin(), values.end());
  LatencyStats stats;
  // Rounding may push the mean of equal values past them by one unit in the last place.
  stats.mean = std::clamp(*Mean(values), values.front(), values.back());
  stats.std = PopulationStd(values);
  stats.p50 = Percentile(values, 50);
  stats.median = stats.p50;
  stats.p90 = Percentile(values, 90);
  stats.p95 = Percentile(values, 95);
  stats.p99 = Percentile(values, 99);
  stats.max = values.back();
  return stats;
}

}  // namespace kvbench
