#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/compare/bootstrap.h"
#include "results/compare/compared_file.h"

namespace kvbench {

/// What became of a run. kSlower and kChanged fail a comparison.
enum class Verdict { kSame, kFaster, kSlower, kChanged, kUndecided, kOnlyInBase, kOnlyInNew };
inline constexpr size_t kVerdicts = 7;

/// "same", "faster", "slower", "changed", "undecided", "only in base", "only in new".
std::string_view VerdictName(Verdict verdict);

/// Fewest repetitions of a side that a timing's verdict rests on.
inline constexpr int64_t kNeededRepetitions = 9;

struct CompareOptions {
  double threshold = 0.05;  ///< a difference: 1 + threshold times as long, or its inverse
  std::vector<std::string> metrics = {};  ///< empty: what fits the run (DefaultMetric)
  bool absolute = false;  ///< timings of different days or machines as they are, not as shares
};

/// A field that had to be equal and is not. Values are JSON text; "-": not there.
struct FieldChange {
  std::string name;
  int64_t repetition = 0;  ///< of the new run
  std::string base;
  std::string next;
};

/// One metric of a run, over its repetitions or over pairs.
struct TimingComparison {
  std::string metric;
  int64_t base_count = 0;  ///< repetitions, or pairs
  int64_t next_count = 0;
  std::optional<double> base_median;
  std::optional<double> next_median;
  std::optional<double> slowdown;  ///< how many times as long the new one takes
  std::optional<Interval> interval;
  std::optional<double> p_value;  ///< Mann-Whitney, two-sided
  bool shares = false;            ///< of the read roofs
  Verdict verdict = Verdict::kUndecided;
  std::string why;  ///< for people: why undecided, what the figures rest on
};

struct RunComparison {
  static constexpr size_t kMostChanges = 20;  ///< listed; the others are counted

  std::string label;
  std::string name;  ///< the label's axes that tell this run from the others
  Verdict verdict = Verdict::kSame;
  std::vector<FieldChange> changes;
  int64_t changes_in_all = 0;
  std::vector<TimingComparison> timings;
  std::vector<std::string> notes;
};

/// A base and a new file, or program.
struct Comparison {
  std::string base;
  std::string next;
  std::vector<std::string> notes;
  std::vector<RunComparison> runs;  ///< those of the base in its order, then the others

  int64_t Count(Verdict verdict) const;
  /// Something is slower or changed.
  bool failed() const { return Count(Verdict::kSlower) + Count(Verdict::kChanged) > 0; }
};

/// The metric that says how fast such a run was: output_throughput of a run with all requests at
/// once, normalized_latency_mean_s_per_token of one with timed arrivals, whose throughput is that
/// of the arrivals, real_time_ns of a benchmark.
std::string_view DefaultMetric(RunKind kind);

/// Joins the runs of two files on (label, repetition) and judges each label. Exact fields (see
/// RunKind) must be equal. Timings of measured runs: medians over repetitions, bootstrap interval
/// of their ratio, U test. A difference is a ratio beyond the threshold with an interval that does
/// not reach it; same is an interval within the threshold. Throws Error: files of different
/// suites or kinds, no run in common, a metric that no run has.
Comparison CompareFiles(const ComparedFile& base, const ComparedFile& next,
                        const CompareOptions& options);

/// The fields that had to be equal in two repetitions of a run, and are not, added to `result`.
/// `same_version`: a field that one of them lacks is a change.
void CompareExact(const ComparedRun& base, const ComparedRun& next, bool same_version,
                  RunComparison& result);

/// The verdict of a run from its changes and timings: changed before slower, undecided, faster.
Verdict JudgeRun(const RunComparison& run);

/// For each label its model and design and as many more axes (`name=value` words) as tell the
/// labels apart; labels that are not made of such words as they are.
std::vector<std::string> ShortNames(const std::vector<std::string>& labels);

/// Two files, once their runs are judged: sets names of runs.
void NameRuns(Comparison& comparison);

/// Compares a metric over all repetitions of a run. `runs` of each side have the same label.
TimingComparison CompareTimings(const std::vector<const ComparedRun*>& base,
                                const std::vector<const ComparedRun*>& next,
                                const std::string& metric, const CompareOptions& options);

}  // namespace kvbench
