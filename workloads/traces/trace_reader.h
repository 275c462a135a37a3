#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/traces/request.h"

namespace kvbench {

/// Limits of what a trace may hold. Longer lengths are taken for broken input: no model has such a
/// context.
inline constexpr int64_t kMaxTokens = int64_t{1} << 30;
/// Where the engine's clock ends: 100 days, in nanoseconds.
inline constexpr int64_t kMaxArrivalNs = int64_t{100} * 24 * 3600 * 1'000'000'000;

struct TraceReadOptions {
  /// Only the first so many requests, 0: all. What follows them in the file is not looked at.
  int64_t limit = 0;
  /// For a CSV with other column names: "arrival=NAME:unit,prompt=NAME,output=NAME". Units s, ms,
  /// us, ns, or timestamp ("2023-11-16 18:15:46.6805900"). Without `arrival` the file is a list of
  /// lengths.
  std::string columns = {};
  /// 2 replays the file's arrivals twice as fast: times are divided by it and rounded half up to
  /// whole ns.
  double speed = 1.0;
};

/// A format that ReadTrace knows.
struct TraceFormat {
  std::string name;     ///< for people: "Azure CSV"
  std::string example;  ///< a small file of it
};
std::vector<TraceFormat> TraceFormats();
/// Their names in a row, with what else can be read; for help and error sentences.
std::string ReadableTraces();

/// Reads a trace, whatever its format; the content decides, not the name:
/// - JSON lines: timestamp (ms, up to 6 decimals; none in the whole file: no arrivals),
///   input_length, output_length, optional hash_ids; other keys are ignored. Times are taken as
///   they are.
/// - CSV of a known layout (csv_layouts.cc), and any other by `columns`. Times count from the first
///   request. Where a layout says so, rows with 0 tokens are failed requests, left out and counted
///   in skipped_rows.
/// Throws Error (file, line, what is wrong, what would be right) for a file that cannot be read, an
/// empty one, a format it does not know, a missing column, a length that is not 1..kMaxTokens, a
/// time that decreases, is no number or lies past kMaxArrivalNs (after `speed`), and a last line
/// that is cut off.
Trace ReadTrace(const std::string& path, const TraceReadOptions& options = {});

/// The same from memory; `display_name` stands where the path would stand.
Trace ReadTraceText(std::string_view text, const std::string& display_name,
                    const TraceReadOptions& options = {});

}  // namespace kvbench
