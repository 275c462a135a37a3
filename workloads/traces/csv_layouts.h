#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kvbench {

/// The unit of an arrival column: 10^value nanoseconds, or a date and a time.
enum class TimeUnit {
  kTimestamp = -1,
  kNanoseconds = 0,
  kMicroseconds = 3,
  kMilliseconds = 6,
  kSeconds = 9,
};

/// Which columns of a CSV hold a request. Other columns are passed over.
struct CsvLayout {
  std::string_view name;     ///< for people
  std::string_view arrival;  ///< empty: a list of lengths
  TimeUnit unit = TimeUnit::kSeconds;
  std::string_view prompt;
  std::string_view output;
  bool arrival_is_optional = false;  ///< a file without the column is a list of lengths
  bool zero_means_failed = false;  ///< rows with 0 tokens are skipped; otherwise they are an error
};

/// The layouts that are known by their column names. A file that has the prompt or the output
/// column of one is taken for it, so that an error names the column that is missing.
std::span<const CsvLayout> CsvLayouts();

/// A layout from TraceReadOptions::columns, "arrival=sent at:ms,prompt=in,output=out", which it
/// points into. Throws Error for what is no such text.
CsvLayout ParseColumns(std::string_view columns);

/// A small file of a layout: two requests and, where they may be, a failed one between them.
std::string ExampleOf(const CsvLayout& layout);

}  // namespace kvbench
