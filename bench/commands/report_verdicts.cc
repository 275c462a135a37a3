#include "bench/commands/report_verdicts.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/quoting.h"
#include "bench/input/results_input.h"
#include "results/compare/compare.h"
#include "results/compare/writers/compare_writers.h"
#include "results/record/label.h"
#include "results/report/sections.h"

namespace kvbench {
namespace {

CompareReport CompareWithBase(const VerdictRequest& request) {
  const CompareOptions options = ParseVerdictFlags(request.flags);
  CompareReport report{.threshold = options.threshold, .comparisons = {}};
  const ComparedFile base = ReadComparedFile(request.base);
  for (const std::string& path : base.benchmarks ? request.benchmarks : request.results) {
    report.comparisons.push_back(CompareFiles(base, ReadComparedFile(path), options));
  }
  if (report.comparisons.empty()) {
    throw Error(fmt::format("--base {} holds {}, and no other file does", ShownPath(request.base),
                            base.benchmarks ? "benchmarks of kvbench_micro" : "runs"));
  }
  return report;
}

}  // namespace

ReportSection JudgeAgainstBase(const VerdictRequest& request) {
  CompareReport report = CompareWithBase(request);
  for (Comparison& comparison : report.comparisons) {
    if (std::erase_if(comparison.runs, [&](const RunComparison& run) {
          return !HasParts(run.label, request.only);
        }) > 0) {
      NameRuns(comparison);  // fewer axes tell fewer runs apart
    }
  }
  return VerdictSection(report);
}

}  // namespace kvbench
