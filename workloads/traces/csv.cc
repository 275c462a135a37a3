#include "workloads/traces/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/quoting.h"
#include "workloads/traces/timestamp.h"

namespace kvbench {
namespace {

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

/// Powers of ten from the unit to nanoseconds.
int UnitDecimals(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return 9;
    case TimeUnit::kMilliseconds:
      return 6;
    case TimeUnit::kMicroseconds:
      return 3;
    default:
      return 0;
  }
}

int64_t ArrivalNs(std::string_view text, const CsvLayout& layout, int64_t line,
                  const TraceBuilder& builder) {
  if (layout.unit != TimeUnit::kTimestamp) {
    return builder.Time(line, layout.arrival, text, UnitDecimals(layout.unit),
                        ExtraDecimals::kRoundHalfUp);
  }
  const std::optional<int64_t> time = ParseTimestamp(text);
  if (!time) {
    builder.Fail(line, fmt::format("{} {} is no time; write it like 2023-11-16 18:15:46.6805900",
                                   layout.arrival, Quoted(text)));
  }
  return *time;
}

}  // namespace

bool CsvText::Has(std::string_view column) const {
  return std::find(header.begin(), header.end(), column) != header.end();
}

std::string_view CsvReader::TakeQuotedField() {
  rest_.remove_prefix(1);
  std::string* unescaped = nullptr;
  size_t begin = 0;
  size_t at = 0;
  for (;;) {
    at = rest_.find('"', at);
    if (at == std::string_view::npos) {
      errors_.Fail(line_, "a quoted field that begins here never ends; close it with a quote");
    }
    if (at + 1 == rest_.size() || rest_[at + 1] != '"') {
      break;
    }
    // A doubled quote stands for one: from here on the field needs memory of its own.
    if (unescaped == nullptr) {
      unescaped = &unescaped_.emplace_back();
    }
    unescaped->append(rest_.substr(begin, at + 1 - begin));
    at += 2;
    begin = at;
  }
  next_line_ += std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  std::string_view field = rest_.substr(0, at);
  if (unescaped != nullptr) {
    field = unescaped->append(rest_.substr(begin, at - begin));
  }
  rest_.remove_prefix(at + 1);
  return field;
}

bool CsvReader::Next() {
  while (!rest_.empty() && (rest_[0] == '\n' || rest_.starts_with("\r\n"))) {
    rest_.remove_prefix(rest_[0] == '\n' ? 1 : 2);
    ++next_line_;
  }
  fields_.clear();
  unescaped_.clear();
  line_ = next_line_;
  if (rest_.empty()) {
    return false;
  }
  for (;;) {
    if (!rest_.empty() && rest_[0] == '"') {
      fields_.push_back(TakeQuotedField());
      if (!rest_.empty() && rest_[0] != ',' && rest_[0] != '\n' && !rest_.starts_with("\r\n")) {
        errors_.Fail(line_, "text follows a closing quote; quotes inside a field are doubled");
      }
    } else {
      const size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
      std::string_view field = rest_.substr(0, end);
      const bool last_of_line = end == rest_.size() || rest_[end] == '\n';
      if (last_of_line && field.ends_with('\r')) {
        field.remove_suffix(1);
      }
      fields_.push_back(field);
      rest_.remove_prefix(end);
    }
    if (rest_.empty()) {
      ended_with_newline_ = false;
      return true;
    }
    if (rest_[0] == ',') {
      rest_.remove_prefix(1);
      continue;
    }
    rest_.remove_prefix(rest_[0] == '\n' ? 1 : 2);
    ++next_line_;
    ended_with_newline_ = true;
    return true;
  }
}

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

}  // namespace kvbench
