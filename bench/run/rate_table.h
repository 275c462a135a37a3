#pragma once

#include <string>
#include <vector>

#include "bench/run/find_rate.h"
#include "results/record/record.h"

namespace kvbench {

/// A run whose rate was searched.
struct SearchedRun {
  const RunRecord* record;  ///< not null
  RateBounds bounds;
};

/// The rates that searches found, one line each: what tells the runs apart (model, hardware,
/// design, block size, scheduler, seed) and the rate in requests/s, "none" or "any". The runs' own
/// tables say the rest. Empty without runs.
std::string RateTable(const std::vector<SearchedRun>& runs);

}  // namespace kvbench
