#include "results/report/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/json.h"
#include "base/markup.h"
#include "base/text.h"
#include "results/report/assets.h"

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongText = 14;  // characters that half of a telephone's width has no room for
constexpr size_t kOpenRows = 12;  // numbers below a chart that are shown without a click

/// JSON that may stand in a script element: nothing in it looks like a tag.
std::string ScriptJson(const Json& json) {
  std::string text = DumpJson(json);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

Json TableJson(const ReportTable& table) {
  Json columns = Json::array();
  for (const ReportColumn& column : table.columns) {
    columns.push_back({{"name", column.name}, {"unit", column.unit}, {"key", column.key}});
  }
  Json rows = Json::array();
  for (const ReportRow& row : table.rows) {
    Json values = Json::array();
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const ReportCell& cell = row.cells[i];
      const bool unknown = cell.text == "-" || (cell.text.empty() && table.columns[i].is_number());
      values.push_back(cell.number ? Json(*cell.number) : unknown ? Json() : Json(cell.text));
    }
    rows.push_back({{"label", row.label}, {"values", std::move(values)}});
  }
  return {{"title", table.title}, {"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

void WriteList(const std::vector<std::string>& lines, const char* style, std::ostream& out) {
  if (lines.empty()) {
    return;
  }
  out << "<ul class=\"" << style << "\">";
  for (const std::string& line : lines) {
    out << "<li>" << EscapeMarkup(line) << "</li>";
  }
  out << "</ul>\n";
}

std::string Heading(const ReportColumn& column) {
  return column.unit.empty() ? column.name : column.name + " " + column.unit;
}

/// A verdict has a frame in its colour around the word, which says it all.
std::string CellText(const ReportCell& cell) {
  std::string text = EscapeMarkup(cell.text);
  if (!cell.verdict) {
    return text;
  }
  std::string style = text;
  std::replace(style.begin(), style.end(), ' ', '-');
  return fmt::format("<span class=\"verdict {}\">{}</span>", style, text);
}

/// The roles say again what the elements are: on narrow windows rows become blocks, which some
/// browsers no longer tell as a table. The labels are shown there.
void WriteCell(const ReportColumn& column, const ReportCell& cell, bool first, std::ostream& out) {
  const char* style = column.is_number()             ? " class=\"n\""
                      : column.prose                 ? " class=\"prose\""
                      : cell.text.size() > kLongText ? " class=\"long\""
                                                     : "";
  const std::string label = " data-label=\"" + EscapeMarkup(Heading(column)) + "\">";
  if (first) {
    out << "<th scope=\"row\" role=\"rowheader\"" << style << label << CellText(cell) << "</th>";
  } else {
    out << "<td role=\"cell\"" << style << label << CellText(cell) << "</td>";
  }
}

void WriteTable(const ReportTable& table, const std::string& id, std::ostream& out) {
  out << "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\""
      << EscapeMarkup(table.title) << "\"><table id=\"" << id << "\" role=\"table\"><caption>"
      << EscapeMarkup(table.title) << "</caption>\n<thead role=\"rowgroup\"><tr role=\"row\">";
  for (const ReportColumn& column : table.columns) {
    out << "<th scope=\"col\" role=\"columnheader\"" << (column.is_number() ? " class=\"n\"" : "");
    if (!column.key.empty()) {
      out << " title=\"" << EscapeMarkup(column.key) << "\"";
    }
    out << ">" << EscapeMarkup(column.name);
    if (!column.unit.empty()) {
      out << " <small>" << EscapeMarkup(column.unit) << "</small>";
    }
    out << "</th>";
  }
  out << "</tr></thead>\n<tbody role=\"rowgroup\">\n";
  for (const ReportRow& row : table.rows) {
    out << "<tr role=\"row\">";
    for (size_t i = 0; i < row.cells.size(); ++i) {
      WriteCell(table.columns[i], row.cells[i], i == 0, out);
    }
    out << "</tr>\n";
  }
  out << "</tbody></table></div>\n";
}

/// Which key of the JSON file each column is.
void WriteKeys(const ReportTable& table, std::ostream& out) {
  std::string keys;
  for (const ReportColumn& column : table.columns) {
    if (!column.key.empty()) {
      keys += fmt::format("{}{}{}{}: <code>{}</code>", keys.empty() ? "" : ", ",
                          EscapeMarkup(column.name), column.unit.empty() ? "" : " ",
                          EscapeMarkup(column.unit), EscapeMarkup(column.key));
    }
  }
  if (!keys.empty()) {
    out << "<details class=\"keys\"><summary>Keys in the JSON</summary><p>" << keys
        << "</p></details>\n";
  }
}

/// Writes sections and collects what the script and readers of the page's source need.
class PageWriter {
 public:
  explicit PageWriter(std::ostream& out) : out_(out) {}

  void Write(const ReportSection& section) {
    out_ << "<section aria-labelledby=\"" << EscapeMarkup(section.id) << "\"><h2 id=\""
         << EscapeMarkup(section.id) << "\">" << EscapeMarkup(section.title) << "</h2>\n";
    if (!section.text.empty()) {
      out_ << "<p>" << EscapeMarkup(section.text) << "</p>\n";
    }
    for (const ReportTable& table : section.tables) {
      if (section.tables.size() > 1 || table.title != section.title) {
        out_ << "<h3>" << EscapeMarkup(table.title) << "</h3>\n";
      }
      WriteList(table.facts, "facts", out_);
      WriteTable(table, NextTable(table), out_);
      WriteList(table.notes, "notes", out_);
      WriteKeys(table, out_);
    }
    for (const ReportChart& chart : section.charts) {
      WriteChart(chart, section);
    }
    out_ << "</section>\n";
  }

  Json charts = Json::array();
  Json tables = Json::array();

 private:
  std::string NextTable(const ReportTable& table) {
    tables.push_back(TableJson(table));
    return fmt::format("table-{}", tables.size() - 1);
  }

  void WriteChart(const ReportChart& chart, const ReportSection& section) {
    const size_t index = charts.size();
    charts.push_back(ChartJson(chart));
    const std::string table = NextTable(chart.numbers);
    out_ << "<figure>";
    if (chart.title != section.title) {
      out_ << "<h3>" << EscapeMarkup(chart.title) << "</h3>";
    }
    if (!chart.caption.empty()) {
      out_ << "<figcaption>" << EscapeMarkup(chart.caption) << "</figcaption>";
    }
    out_ << "<div class=\"panels\">";
    for (size_t i = 0; i < chart.panels.size(); ++i) {
      const ChartPanel& panel = chart.panels[i];
      const std::string what = panel.y.empty() ? panel.x : panel.y + " over " + panel.x;
      out_ << fmt::format(
          "<div class=\"panel\"><canvas data-chart=\"{}\" data-panel=\"{}\" role=\"img\" "
          "aria-label=\"{}: {}. The numbers are in the table below.\" "
          "aria-describedby=\"{}\"></canvas></div>",
          index, i, EscapeMarkup(chart.title), EscapeMarkup(what), table);
    }
    out_ << "</div>\n<details"
         << (chart.numbers_open && chart.numbers.rows.size() <= kOpenRows ? " open" : "")
         << "><summary>Numbers</summary>\n";
    WriteTable(chart.numbers, table, out_);
    WriteList(chart.numbers.notes, "notes", out_);
    WriteKeys(chart.numbers, out_);
    out_ << "</details></figure>\n";
  }

  std::ostream& out_;
};

void WriteSources(const std::vector<PageSource>& sources, std::ostream& out) {
  out << "<section aria-labelledby=\"what\"><h2 id=\"what\">What ran and where</h2>\n";
  for (const PageSource& source : sources) {
    out << "<dl class=\"source\"><dt>file</dt><dd><code>" << EscapeMarkup(source.path)
        << "</code></dd>";
    for (const auto& [name, text] : source.facts) {
      const bool code = name == "command";
      out << "<dt>" << EscapeMarkup(name) << "</dt><dd>" << (code ? "<code>" : "")
          << EscapeMarkup(text) << (code ? "</code>" : "") << "</dd>";
    }
    out << "</dl>\n";
  }
  out << "</section>\n";
}

Json SourcesJson(const std::vector<PageSource>& sources) {
  Json json = Json::array();
  for (const PageSource& source : sources) {
    Json facts = {{"file", source.path}};
    for (const auto& [name, text] : source.facts) {
      facts[name] = text;
    }
    json.push_back(std::move(facts));
  }
  return json;
}

}  // namespace

bool CanWriteHtml() { return !ChartLibrary().empty(); }

PageSource DescribeSource(const std::string& path, const ResultsFile& file) {
  PageSource source{path, {}};
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) {
      source.facts.emplace_back(name, PrintableAscii(text));
    }
  };
  add("command", file.run_info.command);
  add("suite", file.run_info.suite.value_or(""));
  add("started", file.run_info.started_at);
  add("took", fmt::format("{:.1f} s{}", file.run_info.duration_s,
                          file.run_info.complete ? "" : ", interrupted: some runs are missing"));
  add("runs", Thousands(std::ssize(file.runs)));
  add("kvbench", fmt::format("{}{}, {} build, {}", file.kvbench.version,
                             file.kvbench.commit ? " at " + file.kvbench.commit->substr(0, 12) : "",
                             file.kvbench.build_type, file.kvbench.compiler));
  const Environment& environment = file.environment;
  add("system", environment.os.value_or(""));
  std::string cpu = environment.cpu_model.value_or("");
  cpu += environment.cores ? fmt::format(", {} cores", *environment.cores) : "";
  cpu += environment.cpu_isa ? ", kernels for " + *environment.cpu_isa : "";
  add("CPU", cpu);
  add("memory", environment.memory_bytes ? Bytes(*environment.memory_bytes) : "");
  add("GPU", environment.gpu ? environment.gpu->name : "");
  add("read roof", environment.read_roof_bytes_per_s
                       ? fmt::format("{:.1f} GB/s", *environment.read_roof_bytes_per_s / 1e9)
                       : "");
  return source;
}

void WriteHtml(const HtmlPage& page, std::ostream& out) {
  out << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
         "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n"
      << "<title>" << EscapeMarkup(page.title) << "</title>\n<style>" << PageStyle()
      << "</style></head>\n<body><a class=\"skip\" href=\"#main\">To the results</a>\n<header><h1>"
      << EscapeMarkup(page.title)
      << "</h1>\n<nav aria-label=\"Sections\"><ul><li><a href=\"#what\">What "
      << "ran and where</a></li>";
  for (const ReportSection& section : page.sections) {
    if (!section.empty()) {
      out << "<li><a href=\"#" << EscapeMarkup(section.id) << "\">" << EscapeMarkup(section.title)
          << "</a></li>";
    }
  }
  out << "</ul></nav></header>\n<main id=\"main\">\n";
  WriteSources(page.sources, out);
  PageWriter writer(out);
  for (const ReportSection& section : page.sections) {
    if (!section.empty()) {
      writer.Write(section);
    }
  }
  out << "</main>\n<footer><p>Written by " << EscapeMarkup(page.program)
      << ". Every number of this page is in its JSON too, with the run's label and the key in the "
         "results file: the element <code>script#data</code>.</p></footer>\n"
      << "<script type=\"application/json\" id=\"data\">"
      << ScriptJson({{"files", SourcesJson(page.sources)},
                     {"tables", std::move(writer.tables)},
                     {"charts", std::move(writer.charts)}})
      << "</script>\n<script>" << ChartLibrary() << "</script>\n<script>" << PageScript()
      << "</script>\n</body></html>\n";
}

}  // namespace kvbench
