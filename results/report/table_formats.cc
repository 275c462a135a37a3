#include "results/report/table_formats.h"

#include <fmt/format.h>

#include "base/text.h"
#include "results/export/export_csv.h"

namespace kvbench {
namespace {

/// With a backslash before what Markdown would take for itself.
std::string MarkdownText(const std::string& text) {
  std::string escaped;
  for (const char c : PrintableAscii(text)) {
    if (std::string_view("|*_<>`[]\\#").find(c) != std::string_view::npos) {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

std::string LatexText(const std::string& text) {
  std::string escaped;
  for (const char c : PrintableAscii(text)) {
    switch (c) {
      case '\\':
        escaped += "\\textbackslash{}";
        break;
      case '~':
        escaped += "\\textasciitilde{}";
        break;
      case '^':
        escaped += "\\textasciicircum{}";
        break;
      case '<':
      case '>':
        escaped += fmt::format("${}$", c);
        break;
      default:
        escaped += std::string_view("%_&#${}").find(c) == std::string_view::npos
                       ? std::string(1, c)
                       : std::string("\\") + c;
    }
  }
  return escaped;
}

std::string Heading(const ReportColumn& column) {
  return column.unit.empty() ? column.name : column.name + " " + column.unit;
}

std::string Markdown(const ReportTable& table) {
  std::string text = fmt::format("### {}\n\n", MarkdownText(table.title));
  for (const std::string& fact : table.facts) {
    text += fmt::format("- {}\n", MarkdownText(fact));
  }
  text += table.facts.empty() ? "|" : "\n|";
  std::string rule = "|";
  for (const ReportColumn& column : table.columns) {
    text += fmt::format(" {} |", MarkdownText(Heading(column)));
    rule += column.is_number() ? "---:|" : "---|";
  }
  text += "\n" + rule + "\n";
  for (const ReportRow& row : table.rows) {
    text += "|";
    for (const ReportCell& cell : row.cells) {
      text += fmt::format(" {} |", MarkdownText(cell.text));
    }
    text += "\n";
  }
  text += table.notes.empty() ? "" : "\n";
  for (const std::string& note : table.notes) {
    text += fmt::format("- {}\n", MarkdownText(note));
  }
  return text;
}

std::string LatexRow(const std::vector<std::string>& cells) {
  return fmt::format("    {} \\\\\n", fmt::join(cells, " & "));
}

std::string Latex(const ReportTable& table) {
  std::string text;
  for (const std::string& fact : table.facts) {
    text += "% " + PrintableAscii(fact) + "\n";
  }
  for (const std::string& note : table.notes) {
    text += "% " + PrintableAscii(note) + "\n";
  }
  std::string alignment;
  std::vector<std::string> names;
  std::vector<std::string> units;
  for (const ReportColumn& column : table.columns) {
    alignment += column.is_number() ? "r" : column.prose ? "p{0.25\\linewidth}" : "l";
    names.push_back(LatexText(column.name));
    units.push_back(LatexText(column.unit));
  }
  text += fmt::format(
      "\\begin{{table}}[htbp]\n  \\centering\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n"
      "  \\caption{{{}}}\n  \\begin{{tabular}}{{{}}}\n    \\hline\n",
      LatexText(table.title), alignment);
  text += LatexRow(names) + LatexRow(units) + "    \\hline\n";
  for (const ReportRow& row : table.rows) {
    std::vector<std::string> cells;
    for (const ReportCell& cell : row.cells) {
      cells.push_back(LatexText(cell.text));
    }
    text += LatexRow(cells);
  }
  return text + "    \\hline\n  \\end{tabular}\n\\end{table}\n";
}

std::string Csv(const ReportTable& table) {
  std::string text = "table";
  for (const ReportColumn& column : table.columns) {
    text += "," + CsvField(Heading(column));
  }
  text += "\n";
  for (const ReportRow& row : table.rows) {
    text += CsvField(table.title);
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const ReportCell& cell = row.cells[i];
      const bool unknown = table.columns[i].is_number() && cell.text == "-";
      text += "," + (cell.number ? fmt::format("{}", *cell.number)
                     : unknown   ? ""
                                 : CsvField(cell.text));
    }
    text += "\n";
  }
  return text;
}

std::string Joined(const std::vector<ReportTable>& tables,
                   std::string (*format)(const ReportTable&)) {
  std::string text;
  for (const ReportTable& table : tables) {
    text += (text.empty() ? "" : "\n") + format(table);
  }
  return text;
}

}  // namespace

std::string MarkdownTables(const std::vector<ReportTable>& tables) {
  return Joined(tables, Markdown);
}

std::string LatexTables(const std::vector<ReportTable>& tables) { return Joined(tables, Latex); }

std::string CsvTables(const std::vector<ReportTable>& tables) { return Joined(tables, Csv); }

}  // namespace kvbench
