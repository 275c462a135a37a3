#pragma once

#include <string>
#include <vector>

#include "bench/commands/flags.h"
#include "results/report/chart.h"

namespace kvbench {

/// Files that a report shows, and the base that their runs are judged against.
struct VerdictRequest {
  std::string base;
  std::vector<std::string> results;     ///< of `kvbench run`
  std::vector<std::string> benchmarks;  ///< of kvbench_micro
  std::vector<std::string> only;        ///< HasParts of a run's label
  VerdictFlags flags;
};

/// The report's section with a verdict on each run of the files that are of the base's kind. Throws
/// Error: no file is of that kind, flags that are none, what ReadComparedFile and CompareFiles
/// throw.
ReportSection JudgeAgainstBase(const VerdictRequest& request);

}  // namespace kvbench
