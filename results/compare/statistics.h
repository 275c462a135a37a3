#pragma once

#include <vector>

#include "base/statistics.h"
#include "results/record/record.h"

namespace kvbench {

/// All statistics of one latency in ms, in any order; the order does not change a bit of the
/// result. Entries that are NaN or infinite (requests without such a latency) are left out.
LatencyStats Summarize(std::vector<double>&& ms);

}  // namespace kvbench
