#include "bench/report_verdicts.h"

#include <fmt/format.h>

#include "bench/compared_input.h"
#include "results/compare.h"
#include "results/compare_writers/compare_writers.h"
#include "results/label.h"
#include "results/report/sections.h"
#include "results/results_error.h"
#include "workloads/error.h"
#include "workloads/quoting.h"

namespace kvbench {
namespace {

CompareReport CompareAll(const VerdictRequest& request) {
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
  CompareReport report;
  try {
    report = CompareAll(request);
  } catch (const ResultsError& error) {
    throw Error(error.what());
  }
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
