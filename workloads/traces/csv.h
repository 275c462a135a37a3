#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/traces/trace_builder.h"

namespace kvbench {

/// Goes through the records of a CSV text (RFC 4180: quoted fields may hold commas, doubled quotes
/// and line ends; lines end in LF or CR LF; the last line need not end). Blank lines are skipped.
class CsvReader {
 public:
  /// `text` must outlive the reader. `errors` writes the sentences.
  CsvReader(std::string_view text, const TraceBuilder& errors) : rest_(text), errors_(errors) {}

  /// Moves to the next record; false at the end. Throws Error for a quote that does not end.
  bool Next();

  /// The current record's fields, valid until the next call of Next.
  const std::vector<std::string_view>& fields() const { return fields_; }
  /// The line the current record begins on, counted from 1.
  int64_t line() const { return line_; }
  /// Whether the text stops right after the current record, without a line end.
  bool at_unfinished_end() const { return rest_.empty() && !ended_with_newline_; }

 private:
  std::string_view TakeQuotedField();

  std::string_view rest_;
  const TraceBuilder& errors_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;
  int64_t line_ = 0;
  int64_t next_line_ = 1;
  bool ended_with_newline_ = true;
};

}  // namespace kvbench
