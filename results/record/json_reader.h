#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "results/json/json_scanner.h"
#include "results/record/record.h"

namespace kvbench {

/// What a JSON text is, by its keys at the top.
enum class ResultsKind {
  kResults,    ///< of `kvbench run`: schema_version and runs
  kBenchmark,  ///< of kvbench_micro: Google Benchmark's JSON
  kPaper,      ///< of `kvbench paper --out`
  kUnknown,
};

/// Looks at the keys of the top object; never throws, whatever the text is.
ResultsKind KindOfResults(std::string_view text);

struct ReadOptions {
  /// Whether the timeline of a run is read or passed over; they are most of a file. Asked once for
  /// each run, in order; nothing: all are read.
  std::function<bool(const RunRecord&)> wants_timeline = nullptr;
  /// Told after each run how many bytes of the text are not looked at any more, but for an error.
  std::function<void(size_t)> on_progress = nullptr;
};

/// For ReadOptions: none is read.
inline bool NoTimeline(const RunRecord& /*run*/) { return false; }

/// A run comes next in the scanner and has to be passed over; `name` is what sentences call it.
using OnRun = std::function<void(const std::string& name, JsonScanner& scanner)>;

/// Goes through a results file: hands over its runs one by one, then fills all else of `file`.
/// Returns the minor schema version. Throws Error as ParseResults does.
int64_t WalkResults(std::string_view text, const OnRun& on_run, ResultsFile& file,
                    const std::function<void(size_t)>& on_progress = nullptr);

/// Reads what WriteResults writes, of this major schema version. Keys that a newer minor version
/// added are passed over, and those that an older one lacks are unknown. Each run is in memory as
/// JSON by itself, so that large files can be read. Throws Error: for text that is no JSON
/// or ends too early, another schema version, a missing key, a value of another type, and null
/// where a value has to be.
ResultsFile ParseResults(std::string_view text, const ReadOptions& options = {});

}  // namespace kvbench
