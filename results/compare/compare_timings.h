#pragma once

#include <string>
#include <vector>

#include "results/compare/compare.h"

namespace kvbench {

/// Compares a metric over all repetitions of a run. `runs` of each side have the same label.
TimingComparison CompareTimings(const std::vector<const ComparedRun*>& base,
                                const std::vector<const ComparedRun*>& next,
                                const std::string& metric, const CompareOptions& options);

}  // namespace kvbench
