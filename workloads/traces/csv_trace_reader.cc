#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/quoting.h"
#include "workloads/traces/csv.h"
#include "workloads/traces/csv_layouts.h"
#include "workloads/traces/timestamp.h"
#include "workloads/traces/trace_formats.h"

namespace kvbench {
namespace {

/// A CSV text and the names in its first line.
struct CsvText {
  std::string_view text;
  std::vector<std::string_view> header;

  bool Has(std::string_view column) const {
    return std::find(header.begin(), header.end(), column) != header.end();
  }
};

/// The header's names for an error sentence.
std::string ShownColumns(const CsvText& csv) {
  constexpr size_t kMost = 8;
  std::string shown;
  for (size_t i = 0; i < std::min(csv.header.size(), kMost); ++i) {
    shown += (i == 0 ? "" : ", ") + Quoted(csv.header[i], 24);
  }
  return csv.header.size() > kMost ? shown + ", ..." : shown;
}

size_t ColumnIndex(const CsvText& csv, std::string_view column, const TraceBuilder& builder) {
  const auto found = std::find(csv.header.begin(), csv.header.end(), column);
  if (found == csv.header.end()) {
    builder.Fail(1, fmt::format("the column {} is missing; the file has {}", Quoted(column),
                                ShownColumns(csv)));
  }
  if (std::find(std::next(found), csv.header.end(), column) != csv.header.end()) {
    builder.Fail(
        1, fmt::format("two columns are called {}; name one of them differently", Quoted(column)));
  }
  return static_cast<size_t>(found - csv.header.begin());
}

int64_t ArrivalNs(std::string_view text, const CsvLayout& layout, int64_t line,
                  const TraceBuilder& builder) {
  if (layout.unit != TimeUnit::kTimestamp) {
    return builder.Time(line, layout.arrival, text, static_cast<int>(layout.unit),
                        ExtraDecimals::kRoundHalfUp);
  }
  const std::optional<int64_t> time = ParseTimestamp(text);
  if (!time) {
    builder.Fail(line, fmt::format("{} {} is no time; write it like 2023-11-16 18:15:46.6805900",
                                   layout.arrival, Quoted(text)));
  }
  return *time;
}

/// Reads all rows; times count from the first request.
void ReadCsv(const CsvText& csv, const CsvLayout& layout, TraceBuilder& builder) {
  const bool has_arrivals = !layout.arrival.empty();
  builder.set_has_arrivals(has_arrivals);
  builder.set_time_origin(TraceBuilder::TimeOrigin::kFirstRequest);
  const size_t arrival = has_arrivals ? ColumnIndex(csv, layout.arrival, builder) : 0;
  const size_t prompt = ColumnIndex(csv, layout.prompt, builder);
  const size_t output = ColumnIndex(csv, layout.output, builder);
  const int64_t shortest = layout.zero_means_failed ? 0 : 1;

  CsvReader rows(csv.text, builder);
  rows.Next();  // the header
  while (!builder.full() && rows.Next()) {
    const std::vector<std::string_view>& fields = rows.fields();
    if (fields.size() != csv.header.size()) {
      builder.Fail(rows.line(),
                   fmt::format("the line has {} fields where the first line has {}; {}",
                               fields.size(), csv.header.size(),
                               rows.at_unfinished_end() ? "the file seems to be cut off here"
                                                        : "every line has as many as the first"));
    }
    if (has_arrivals) {
      builder.SetTime(rows.line(), ArrivalNs(fields[arrival], layout, rows.line(), builder));
    }
    const int64_t prompt_tokens =
        builder.Length(rows.line(), layout.prompt, fields[prompt], shortest);
    const int64_t output_tokens =
        builder.Length(rows.line(), layout.output, fields[output], shortest);
    if (prompt_tokens == 0 || output_tokens == 0) {
      builder.Skip();
    } else {
      builder.Add(prompt_tokens, output_tokens);
    }
  }
}

CsvLayout KnownLayout(const CsvText& csv, const TraceBuilder& builder) {
  for (CsvLayout layout : CsvLayouts()) {
    if (csv.Has(layout.prompt) || csv.Has(layout.output)) {
      if (layout.arrival_is_optional && !csv.Has(layout.arrival)) {
        layout.arrival = {};
      }
      return layout;
    }
  }
  builder.Fail(1,
               fmt::format("the format of a file that begins with {} is not known; readable are {}",
                           Quoted(csv.text.substr(0, csv.text.find_first_of("\r\n")), 60),
                           ReadableTraces()));
}

/// Takes every text: what has no known columns is refused by its first line.
bool ReadCsvTrace(std::string_view text, std::string_view columns, TraceBuilder& builder) {
  CsvText csv{text, {}};
  CsvReader header(text, builder);
  header.Next();
  csv.header = header.fields();
  ReadCsv(csv, columns.empty() ? KnownLayout(csv, builder) : ParseColumns(columns), builder);
  return true;
}

std::vector<TraceFormat> CsvFormats() {
  std::vector<TraceFormat> formats;
  for (const CsvLayout& layout : CsvLayouts()) {
    formats.push_back({std::string(layout.name), ExampleOf(layout)});
  }
  return formats;
}

}  // namespace

const TraceReader kCsvReader = {ReadCsvTrace, CsvFormats};

}  // namespace kvbench
