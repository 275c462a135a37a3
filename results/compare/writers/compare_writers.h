#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/compare/compare.h"

namespace kvbench {

/// What is written: each new file against the base.
struct CompareReport {
  double threshold = 0.05;
  std::vector<Comparison> comparisons;

  bool failed() const;
};

/// A table for a terminal; runs that are the same are listed where they are few.
std::string CompareText(const CompareReport& report);
/// Tables for a comment: what needs looking at, and the rest folded.
std::string CompareMarkdown(const CompareReport& report);
/// Everything, as one JSON object.
std::string CompareJson(const CompareReport& report);
/// A suite for each new file, a test case for each run: slower and changed are failures,
/// undecided and only in one are skipped.
std::string CompareJunit(const CompareReport& report);
/// Workflow commands of GitHub Actions: an error for each slower or changed run, warnings for
/// undecided ones and those only in one, a notice with the summary.
std::string CompareGithub(const CompareReport& report);

using CompareWriter = std::string (*)(const CompareReport&);

/// The writer of that name; null for others.
CompareWriter FindCompareWriter(std::string_view name);
/// The names: "text, markdown and json".
std::string CompareFormats();

// ---- pieces that the writers share ----

/// "3 same, 1 slower (of 4 runs)".
std::string SummaryText(const Comparison& comparison);
/// "+10.3 %" for 1.103.
std::string PercentText(double slowdown);
/// "needs 9 repetitions, has 3"; "completed: 10 -> 9"; one line for a run. `figures` as below.
std::string ReasonText(const RunComparison& run, bool figures = true);
/// "output_throughput 5,929 -> 5,300: +11.9 % time [+9.1 %, +14.2 %], p 0.0004"; without figures
/// "output_throughput 5,929 -> 5,300", for a table that has the others in columns.
std::string TimingText(const TimingComparison& timing, bool figures = true);
/// A quantity with so many digits that a difference of 1 in 1,000 shows.
std::string QuantityText(double value);
/// Whether somebody should look at such a run.
bool NeedsLooking(Verdict verdict);

}  // namespace kvbench
