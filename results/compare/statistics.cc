#include "results/compare/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace kvbench {
namespace {

/// Neumaier's compensated sum: the same on every machine, which long double is not.
class Sum {
 public:
  void Add(double value) {
    const double next = sum_ + value;
    if (std::abs(sum_) >= std::abs(value)) {
      lost_ += (sum_ - next) + value;
    } else {
      lost_ += (value - next) + sum_;
    }
    sum_ = next;
  }
  double total() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

}  // namespace

std::optional<double> Mean(std::span<const double> values) {
  if (values.empty()) {
    return std::nullopt;
  }
  Sum sum;
  for (const double value : values) {
    sum.Add(value);
  }
  return sum.total() / static_cast<double>(values.size());
}

std::optional<double> PopulationStd(std::span<const double> values) {
  const std::optional<double> mean = Mean(values);
  if (!mean) {
    return std::nullopt;
  }
  // Two passes: the sum of squares minus the squared mean would cancel and can turn negative.
  Sum squares;
  for (const double value : values) {
    squares.Add((value - *mean) * (value - *mean));
  }
  return std::sqrt(squares.total() / static_cast<double>(values.size()));
}

std::optional<double> Percentile(std::span<const double> sorted, double percent) {
  assert(percent >= 0 && percent <= 100);
  if (sorted.empty()) {
    return std::nullopt;
  }
  // Multiplied before it is divided: percent / 100 has no exact double, and 0.07 * 100 is not 7.
  const double position = percent * static_cast<double>(sorted.size() - 1) / 100;
  const auto below = static_cast<size_t>(std::floor(position));
  if (below + 1 >= sorted.size()) {
    return sorted.back();
  }
  const double part = position - static_cast<double>(below);
  const double low = sorted[below];
  const double high = sorted[below + 1];
  // From the nearer end, as numpy does: monotone, and exact at both ends.
  return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

std::optional<double> Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return Percentile(values, 50);
}

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
