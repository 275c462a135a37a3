#pragma once

#include <optional>
#include <span>
#include <vector>

namespace kvbench {

/// Arithmetic mean, summed with compensation; nothing for n = 0.
std::optional<double> Mean(std::span<const double> values);

/// Standard deviation of the population (ddof 0, as numpy and vLLM have it); 0 for n = 1, nothing
/// for n = 0.
std::optional<double> PopulationStd(std::span<const double> values);

/// Percentile by linear interpolation between order statistics: Hyndman and Fan's type 7, numpy's
/// default. Where percent * (n - 1) / 100 is a whole number it is that order statistic exactly.
/// `sorted` ascends; percent in [0, 100]. Nothing for n = 0.
std::optional<double> Percentile(std::span<const double> sorted, double percent);

/// Median of values in any order; nothing for n = 0.
std::optional<double> Median(std::vector<double> values);

}  // namespace kvbench
