#include "results/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kvbench {

LatencyStats Summarize(std::vector<double>&& ms) {
  struct Sorted {
    std::vector<double> values;
    // Rounding may push the mean of equal values past them by one unit in the last place.
    std::optional<double> Mean() const {
      return std::clamp(*kvbench::Mean(values), values.front(), values.back());
    }
    std::optional<double> PopulationStd() const { return kvbench::PopulationStd(values); }
    std::optional<double> Percentile(double percent) const {
      return kvbench::Percentile(values, percent);
    }
  };
  Sorted sorted = {std::move(ms)};
  std::erase_if(sorted.values, [](double value) { return !std::isfinite(value); });
  std::sort(sorted.values.begin(), sorted.values.end());
  return sorted.values.empty() ? LatencyStats()
                               : StatisticsOf(sorted, [](double value) { return value; });
}

}  // namespace kvbench
