#pragma once

#include <optional>
#include <string>

#include "results/record/record.h"

namespace kvbench {

/// What a machine read from memory when a run was made.
struct RunRoof {
  double bytes_per_s = 0;
  std::optional<double> spread;  ///< (90th - 10th percentile) / median
};

/// On what machine and day runs were made, and what it read from memory then.
struct MadeOn {
  std::string name;  ///< "AMD EPYC, 2 cores on 2025-01-31, boot 3f0c..."
  std::optional<RunRoof> roof;
};

/// Of the runs of a file.
MadeOn MadeOnOf(const Environment& machine, const RunInfo& when);
/// Of a run that came from another file.
MadeOn MadeOnOf(const RunOrigin& origin);

}  // namespace kvbench
