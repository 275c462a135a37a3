#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/record/made_on.h"

namespace kvbench {

/// Which of a run's fields must be equal in two files.
enum class RunKind {
  kModelled,   ///< all of them
  kPredicted,  ///< modelled on the machine's own CPU: all but times, which rest on roofs
  kAllAtOnce,  ///< measured, all requests there from the start: all but times
  kTimed,      ///< measured, requests arrive by the clock: what was asked for and what became of it
  kBenchmark,  ///< of Google Benchmark: none
};

/// A field that must be equal: its place ("kv.usage_per_step.live") and its value as JSON text.
struct ExactField {
  const std::string* name = nullptr;
  std::string value;
};

struct RunMetric {
  const std::string* name = nullptr;  ///< "output_throughput"
  double value = 0;
};

/// One repetition of one run, as far as a comparison looks at it.
struct ComparedRun {
  std::string label;
  int64_t repetition = 0;
  RunKind kind = RunKind::kModelled;
  std::vector<ExactField> exact;
  std::vector<RunMetric> metrics;  ///< timings; none of runs that are not measured
  std::optional<RunRoof> roof;
  std::string made_on;  ///< machine and day, as in MadeOn
  bool verification_failed = false;
  std::vector<double> step_ends_s;  ///< of the timeline, where it was asked for

  /// The value of a metric; nothing where the run has none.
  std::optional<double> Metric(std::string_view name) const;
};

/// A results file or the JSON of Google Benchmark. It moves and is not copied: runs point into it.
struct ComparedFile {
  ComparedFile() = default;
  ComparedFile(ComparedFile&&) = default;
  ComparedFile& operator=(ComparedFile&&) = default;

  std::string name;  ///< for sentences
  std::optional<std::string> suite;
  bool complete = true;
  bool benchmarks = false;
  int64_t minor_version = 0;
  std::vector<ComparedRun> runs;             ///< as in the file
  std::set<std::string, std::less<>> names;  ///< of fields and metrics; the runs point into it

  /// The one copy of a name.
  const std::string* Name(std::string_view name);
};

struct ComparedReadOptions {
  bool timeline = false;  ///< keep step_ends_s
  /// As in ReadOptions.
  std::function<void(size_t)> on_progress = nullptr;
};

/// Reads either kind of file. Any minor version of schema 1 is read: what a newer one added is
/// compared where both files have it. Throws Error: the text is truncated, of another major
/// version, without runs, has one label and repetition twice, or null where a run cannot do
/// without.
/// @param name of the file, for sentences
ComparedFile ParseComparedFile(std::string_view text, const std::string& name,
                               const ComparedReadOptions& options = {});

/// Whether more of a metric is better: throughput, goodput, anything per second, a share of a roof.
bool MoreIsBetter(std::string_view metric);

}  // namespace kvbench
