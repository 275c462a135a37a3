#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quoting.h"
#include "base/text.h"
#include "bench/output/text_table.h"
#include "bench/paper/output.h"

namespace kvbench {

namespace {

constexpr size_t kTextColumns = 96;

using Cells = std::vector<std::string>;

std::string Number(const std::optional<double>& value, int decimals) {
  return Thousands(value, decimals);
}

std::string Published(const PaperRow& row) {
  if (!row.published_low && !row.published_high) {
    return "-";
  }
  if (!row.published_high) {
    return ">= " + Number(row.published_low, row.decimals);
  }
  if (!row.published_low) {
    return "<= " + Number(row.published_high, row.decimals);
  }
  const std::string low = Number(row.published_low, row.decimals);
  const std::string high = Number(row.published_high, row.decimals);
  return low == high ? low : low + " - " + high;
}

/// With its sign, unless it rounds to 0.
std::string Deviation(const PaperRow& row) {
  if (!row.deviation) {
    return "";
  }
  const bool percent = row.closeness == Closeness::kPercent;
  const int decimals = percent ? 1 : row.decimals;
  std::string text = fmt::format("{:+.{}f}", *row.deviation, decimals);
  if (text.find_first_of("123456789") == std::string::npos) {
    text.erase(0, 1);
  }
  return percent ? text + " %" : text;
}

std::string Tolerance(const PaperRow& row) {
  if (!row.tolerance) {
    return "";
  }
  switch (row.closeness) {
    case Closeness::kPoints:
      return fmt::format("{}", *row.tolerance);
    case Closeness::kPercent:
      return fmt::format("{} %", *row.tolerance);
    case Closeness::kDecimals:
      break;
  }
  return "exact";
}

std::string Verdict(const PaperRow& row, bool claim) {
  if (!row.holds) {
    return "";
  }
  return *row.holds ? "holds" : row.failed() && !claim ? "MISS" : "does not hold";
}

Cells Heading(const PaperSection& section) {
  if (section.claims) {
    return {"", "ours", "+-", section.reference, "verdict"};
  }
  return {section.rows.front().unit, "ours", "+-", section.reference, "off by", "within", ""};
}

Cells RowCells(const PaperRow& row, bool claims) {
  Cells cells = {row.name, Number(row.ours, row.decimals),
                 row.seeds > 1 ? Number(row.spread, row.decimals) : "", Published(row)};
  if (!claims) {
    cells.push_back(Deviation(row));
    cells.push_back(Tolerance(row));
  }
  cells.push_back(Verdict(row, claims));
  return cells;
}

/// What is said below a table: the section's notes, then those of its rows, equal ones together.
std::vector<std::string> Notes(const PaperSection& section) {
  std::vector<std::string> notes = section.notes;
  std::vector<std::pair<std::string, Cells>> by_text;
  for (const PaperRow& row : section.rows) {
    if (row.note.empty()) {
      continue;
    }
    const auto known = std::find_if(by_text.begin(), by_text.end(),
                                    [&](const auto& entry) { return entry.first == row.note; });
    if (known == by_text.end()) {
      by_text.push_back({row.note, {row.name}});
    } else {
      known->second.push_back(row.name);
    }
  }
  for (const auto& [text, names] : by_text) {
    notes.push_back(fmt::format("{}: {}.", fmt::join(names, "; "), text));
  }
  return notes;
}

int64_t MostSeeds(const PaperSection& section) {
  int64_t seeds = 1;
  for (const PaperRow& row : section.rows) {
    seeds = std::max(seeds, row.seeds);
  }
  return seeds;
}

std::string SeedsNote(const PaperSection& section) {
  const int64_t seeds = MostSeeds(section);
  return seeds > 1 ? fmt::format(
                         "ours: mean of {} seeds, +- their standard deviation; modelled, "
                         "not measured.",
                         seeds)
                   : "";
}

std::string Text(const PaperSection& section) {
  using Align = TextTable::Align;
  std::vector<Align> columns = {Align::kLeft, Align::kRight, Align::kRight, Align::kRight};
  if (!section.claims) {
    columns.insert(columns.end(), {Align::kRight, Align::kRight});
  }
  columns.push_back(Align::kLeft);
  TextTable table(columns);
  table.Add(Heading(section));
  for (const PaperRow& row : section.rows) {
    table.Add(RowCells(row, section.claims));
  }
  std::string text =
      Wrap(fmt::format("== {} ==", section.title), kTextColumns, 3) + "\n\n" + table.Text() + "\n";
  for (const std::string& note : Notes(section)) {
    text += Wrap("* " + note, kTextColumns, 2) + "\n";
  }
  const std::string seeds = SeedsNote(section);
  text += seeds.empty() ? "" : Wrap("* " + seeds, kTextColumns, 2) + "\n";
  return text + Wrap(fmt::format("* {}: {}.", section.reference, section.source), kTextColumns, 2) +
         "\n";
}

/// `text` with each of the characters behind a backslash.
std::string Escaped(const std::string& text, std::string_view characters) {
  std::string escaped;
  for (const char c : text) {
    escaped +=
        characters.find(c) != std::string_view::npos ? std::string("\\") + c : std::string(1, c);
  }
  return escaped;
}

std::string Markdown(const PaperSection& section) {
  const auto line = [](const Cells& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) {
      text += " " + Escaped(cell, "|*_<>") + " |";
    }
    return text + "\n";
  };
  const Cells heading = Heading(section);
  std::string text = fmt::format("### {}\n\n{}|---|", section.title, line(heading));
  for (size_t i = 1; i < heading.size(); ++i) {
    text += i + 1 == heading.size() ? "---|" : "---:|";
  }
  text += "\n";
  for (const PaperRow& row : section.rows) {
    text += line(RowCells(row, section.claims));
  }
  text += "\n";
  for (const std::string& note : Notes(section)) {
    text += "- " + Escaped(note, "*_<>") + "\n";
  }
  const std::string seeds = SeedsNote(section);
  text += seeds.empty() ? "" : "- " + seeds + "\n";
  return text + fmt::format("- {}: {}.\n", section.reference, section.source);
}

std::string Latex(const PaperSection& section) {
  const auto line = [](const Cells& cells) {
    std::string text;
    for (const std::string& cell : cells) {
      std::string escaped = Escaped(cell, "%_&#$");
      if (const size_t least = escaped.find(">= "); least == 0) {
        escaped = "$\\geq$ " + escaped.substr(3);
      } else if (cell == "+-") {
        escaped = "$\\pm$";
      }
      text += (text.empty() ? "" : " & ") + escaped;
    }
    return text + " \\\\\n";
  };
  const Cells heading = Heading(section);
  std::string text = fmt::format("% {}\n\\begin{{tabular}}{{l{}l}}\n\\hline\n", section.title,
                                 std::string(heading.size() - 2, 'r'));
  Cells first = heading;
  first.front() = first.front().empty() ? "~" : first.front();
  text += line(first) + "\\hline\n";
  for (const PaperRow& row : section.rows) {
    text += line(RowCells(row, section.claims));
  }
  text += "\\hline\n\\end{tabular}\n";
  for (const std::string& note : Notes(section)) {
    text += "% " + note + "\n";
  }
  return text + fmt::format("% {}: {}.\n", section.reference, section.source);
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  }
  return quoted + "\"";
}

std::string CsvRow(const PaperSection& section, const PaperRow& row) {
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", section.key, CsvField(row.name),
                     CsvField(row.unit), number(row.ours), number(row.spread), row.seeds,
                     number(row.published_low), number(row.published_high), number(row.deviation),
                     number(row.tolerance), row.tolerance ? ClosenessName(row.closeness) : "",
                     !row.holds   ? ""
                     : *row.holds ? "true"
                                  : "false");
}

}  // namespace

PaperFormat ParsePaperFormat(std::string_view text) {
  if (text == "text") {
    return PaperFormat::kText;
  }
  if (text == "markdown") {
    return PaperFormat::kMarkdown;
  }
  if (text == "latex") {
    return PaperFormat::kLatex;
  }
  if (text == "csv") {
    return PaperFormat::kCsv;
  }
  throw Error(fmt::format("--format: {} is none of text, markdown, latex and csv", Quoted(text)));
}

std::string PaperTables(const std::vector<PaperSection>& sections, PaperFormat format) {
  std::string text;
  if (format == PaperFormat::kCsv) {
    text =
        "section,name,unit,ours,spread,seeds,published_low,published_high,deviation,tolerance,"
        "tolerance_in,holds\n";
    for (const PaperSection& section : sections) {
      for (const PaperRow& row : section.rows) {
        text += CsvRow(section, row);
      }
    }
    return text;
  }
  for (const PaperSection& section : sections) {
    text += text.empty() ? "" : "\n";
    text += format == PaperFormat::kText       ? Text(section)
            : format == PaperFormat::kMarkdown ? Markdown(section)
                                               : Latex(section);
  }
  return text;
}

}  // namespace kvbench
