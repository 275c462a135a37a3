#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "results/compare/compare.h"
#include "results/compare/paired.h"

namespace kvbench {

struct ExecCompareOptions {
  std::string base;   ///< program
  std::string next;   ///< program
  std::string suite;  ///< what both run
  CompareOptions compare;
  int64_t budget = 60;  ///< pairs at most
  /// Called after each pair. False: stop here.
  std::function<bool(int64_t pairs)> on_pair;
};

/// Runs both programs turn by turn (A B, B A, ...) as `PROGRAM run SUITE --out FILE`, and compares
/// run by run: exact fields in every turn, timings by pairs (EstimateSlowdown). At fixed numbers of
/// pairs it looks at the intervals, and stops when all runs have a verdict, when the budget is
/// spent, or after the first pair where something changed; the notes say which. Suites without
/// measured runs need one pair. Throws Error where a program fails or its results are none.
Comparison CompareByExec(const ExecCompareOptions& options);

/// How long the stretches of a run took, from its timeline: `count` or less, seconds each, all
/// above 0. `step_ends_s` ascends. A timeline with too few points gives nothing.
std::vector<double> Stretches(const std::vector<double>& step_ends_s, size_t count);

}  // namespace kvbench
