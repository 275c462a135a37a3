#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/record/field.h"
#include "results/record/record.h"

namespace kvbench {

/// What a column shows.
struct ReportColumn {
  std::string name;    ///< "output"
  std::string unit;    ///< "tokens/s", or empty
  std::string key;     ///< of the record: "output_throughput"; empty for text
  bool prose = false;  ///< sentences, which are broken into lines
  bool is_number() const { return !key.empty(); }
};

/// A number as it is shown and in full, or text.
struct ReportCell {
  std::string text;
  std::optional<double> number;
  bool verdict = false;  ///< text that says how something was judged: "slower"
};

struct ReportRow {
  std::string label;              ///< of the runs; empty where the row is of something else
  std::vector<ReportCell> cells;  ///< one for each column
};

/// A table of a report, in whatever format it is written.
struct ReportTable {
  std::string title;
  std::vector<std::string> facts;  ///< what all rows have in common, a line each
  std::vector<ReportColumn> columns;
  std::vector<ReportRow> rows;
  std::vector<std::string> notes;  ///< sentences
};

/// The column of a field that has a heading.
ReportColumn ColumnOf(const RecordField& field);

/// A table for each model and source of requests, with a row for each label; repetitions are one
/// row with their medians. What varies besides the design is a column of its own, behind the first.
std::vector<ReportTable> MainTables(const std::vector<const RunRecord*>& runs);

}  // namespace kvbench
