#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/number_text.h"
#include "workloads/traces/request.h"
#include "workloads/traces/trace_reader.h"

namespace kvbench {

/// The part that all trace readers share: checks every row, knows when the limit is reached, writes
/// the error sentences, and puts the trace together.
class TraceBuilder {
 public:
  /// Whether times count from the trace's beginning or from the first row kept.
  enum class TimeOrigin { kAsInFile, kFirstRequest };

  TraceBuilder(std::string display_name, const TraceReadOptions& options);

  void set_time_origin(TimeOrigin origin) { origin_ = origin; }
  void set_has_arrivals(bool has_arrivals) { trace_.has_arrivals = has_arrivals; }

  /// Whether the limit is reached: the reader stops.
  bool full() const;

  /// The row's time; checks that times do not decrease. Called for skipped rows too.
  void SetTime(int64_t line, int64_t time_ns);
  /// Adds a request at the time last set. Lengths have been through Length().
  void Add(int64_t prompt_tokens, int64_t output_tokens, std::vector<int64_t> prefix_ids = {});
  /// Counts a row as left out.
  void Skip() { ++trace_.skipped_rows; }

  /// A number of tokens, checked to be min .. kMaxTokens. `what` names the column or key.
  int64_t Length(int64_t line, std::string_view what, std::string_view text, int64_t min = 1) const;
  /// A time as an integer number of ns; 10^decimals ns make one unit.
  int64_t Time(int64_t line, std::string_view what, std::string_view text, int decimals,
               ExtraDecimals extra) const;

  /// Throws Error: "FILE, line 3: sentence".
  [[noreturn]] void Fail(int64_t line, std::string_view sentence) const;
  /// Throws Error: "FILE: sentence".
  [[noreturn]] void Fail(std::string_view sentence) const;

  /// The trace; throws Error where it holds no request or ends past kMaxArrivalNs.
  Trace Finish() &&;

 private:
  std::string display_name_;
  TraceReadOptions options_;
  TimeOrigin origin_ = TimeOrigin::kAsInFile;
  Trace trace_;
  int64_t time_ns_ = 0;
  int64_t time_line_ = 0;
  int64_t last_request_line_ = 0;
};

}  // namespace kvbench
