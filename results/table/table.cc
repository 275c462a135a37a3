#include "results/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "results/table/table_heading.h"
#include "results/table/table_notes.h"
#include "results/table/table_rows.h"

namespace kvbench {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kTextColumns = 96;
constexpr size_t kNameColumns = 28;
constexpr size_t kLeastNameColumns = 12;
constexpr double kSecondsFromMs = 100'000;  // beyond, a latency column changes to seconds

struct Column {
  const char* top;
  const char* bottom;
  size_t index;  ///< of TableFields
  int decimals;
  double scale = 1;
  size_t width = 0;

  std::string Text(const TableRow& row) const {
    const std::optional<double>& raw = row.figures[index];
    return Thousands(raw ? std::optional(*raw * scale) : raw, decimals);
  }
};

using Groups = std::vector<TableGroup>;

double Largest(const Groups& groups, size_t figure) {
  double largest = 0;
  for (const TableGroup& group : groups) {
    for (const TableRow& row : group.rows) {
      largest = std::max(largest, row.figures[figure].value_or(0));
    }
  }
  return largest;
}

/// Large figures have fewer decimals, and very long latencies are seconds.
void Suit(Column& column, double largest) {
  const std::string_view unit = column.bottom;
  if (unit == "tokens/s") {
    column.decimals = largest >= 1000 ? 0 : 1;
  } else if (unit == "ms" && largest >= kSecondsFromMs) {
    column.bottom = "s";
    column.scale = 1e-3;
    column.decimals = 1;
  } else if (unit == "ms") {
    column.decimals = largest >= 1000 ? 0 : largest >= 10 ? 1 : 2;
  }
}

/// The columns behind the name, the same for all groups so that the eye can run down the whole
/// table.
std::vector<Column> MakeColumns(const Groups& groups) {
  std::vector<Column> columns;
  for (const RecordField& field : TableFields()) {
    const ColumnHeading& heading = field.field().options.heading;
    Column column{heading.top, heading.bottom, columns.size(), heading.decimals};
    Suit(column, Largest(groups, column.index));
    column.width = std::max(std::strlen(column.top), std::strlen(column.bottom));
    for (const TableGroup& group : groups) {
      for (const TableRow& row : group.rows) {
        column.width = std::max(column.width, column.Text(row).size());
      }
    }
    columns.push_back(column);
  }
  return columns;
}

std::string Shorten(const std::string& text, size_t columns) {
  return text.size() <= columns ? text : text.substr(0, columns - 2) + "..";
}

std::string HeadingText(const TableGroup& group) {
  const GroupHeading heading = DescribeGroup(group);
  std::string text = Wrap("== " + heading.title + " ==", kTextColumns, 3) + "\n";
  for (const HeadingLine& line : heading.lines) {
    text += Wrap(fmt::format("{:<7}{}", line.name, line.text), kTextColumns, 7) + "\n";
  }
  return text;
}

// ---- rows ----

class Layout {
 public:
  explicit Layout(const Groups& groups) : columns_(MakeColumns(groups)) {
    for (const TableGroup& group : groups) {
      for (const TableRow& row : group.rows) {
        name_width_ = std::max(name_width_, std::min(row.name.size(), kNameColumns));
      }
    }
    size_t figures = 0;
    for (const Column& column : columns_) {
      figures += column.width;
    }
    // Huge figures first take the second space between columns, then the end of long names.
    if (name_width_ + figures + gap_ * columns_.size() > kColumns) {
      gap_ = 1;
      const size_t taken = std::min(figures + columns_.size(), kColumns - kLeastNameColumns);
      name_width_ = std::min(name_width_, kColumns - taken);
    }
    width_ = name_width_ + figures + gap_ * columns_.size();
  }

  std::string Header() const {
    return Line("", [](const Column& column) { return column.top; }) +
           Line("design", [](const Column& column) { return column.bottom; }) +
           std::string(width_, '-') + "\n";
  }

  std::string Row(const TableRow& row) const {
    return Line(Shorten(row.name, name_width_),
                [&](const Column& column) { return column.Text(row); });
  }

 private:
  template <typename Text>
  std::string Line(const std::string& name, Text text) const {
    std::string line = fmt::format("{:<{}}", name, name_width_);
    for (const Column& column : columns_) {
      line += std::string(gap_, ' ') + fmt::format("{:>{}}", text(column), column.width);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    return line + "\n";
  }

  std::vector<Column> columns_;
  size_t name_width_ = 6;
  size_t gap_ = 2;
  size_t width_ = 0;
};

std::string RenderGroup(const TableGroup& group, const Layout& layout) {
  std::string text = HeadingText(group) + "\n" + layout.Header();
  std::string varying;
  for (const TableRow& row : group.rows) {
    if (row.varying != varying) {
      varying = row.varying;
      text += Wrap("with " + varying, kTextColumns, 5) + "\n";
    }
    text += layout.Row(row);
  }
  const std::vector<std::string> notes = GroupNotes(group);
  text += notes.empty() ? "" : "\n";
  for (const std::string& note : notes) {
    text += Wrap("* " + note, kTextColumns, 2) + "\n";
  }
  return text;
}

std::string Legend() {
  std::string text = fmt::format(
      "{:<10} {}\n", "design",
      "a way to give KV slots to sequences; after the slash: tokens a block, or how it grows");
  for (const RecordField& field : TableFields()) {
    const ColumnHeading& heading = field.field().options.heading;
    const std::string_view word = *heading.top == '\0' ? heading.bottom : heading.name;
    if (word == "done") {
      continue;  // stands beside those that were rejected
    }
    text += fmt::format("{:<10} {}{}\n", word, field.field().meaning,
                        word == "running"  ? "; - where none did"
                        : word == "reject" ? "; done are those that completed"
                                           : "");
  }
  return text;
}

}  // namespace

std::string RenderTable(const ResultsFile& file) {
  std::string text;
  if (!file.run_info.complete) {
    text += "INCOMPLETE: interrupted, only what finished is below.\n\n";
  }
  if (file.runs.empty()) {
    return text + "No runs.\n";
  }
  const Groups groups = GroupRuns(file);
  const Layout layout(groups);
  for (const TableGroup& group : groups) {
    text += RenderGroup(group, layout) + "\n";
  }
  text += Legend();
  // Whatever else came from a file: nothing but text reaches the terminal.
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c != '\n' && (c < ' ' || c > '~'); }, '?');
  return text;
}

}  // namespace kvbench
