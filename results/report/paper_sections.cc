#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "results/json/json_value.h"
#include "results/record/json_reader.h"
#include "results/report/sections.h"

namespace kvbench {
namespace {

constexpr size_t kLeastBars = 2;

std::optional<double> NumberOrNull(const JsonValue& value) {
  return value.is_null() ? std::nullopt : std::optional(value.Number());
}

std::string TextOrNull(const JsonValue& value) {
  return value.is_null() ? "" : PrintableAscii(value.String());
}

std::string PublishedText(const std::optional<double>& low, const std::optional<double>& high) {
  if (!low && !high) {
    return "-";
  }
  if (!low || !high) {
    return low ? ">= " + ShortNumber(low) : "<= " + ShortNumber(high);
  }
  return *low == *high ? ShortNumber(low) : ShortNumber(low) + " - " + ShortNumber(high);
}

/// The middle of a published range, to be drawn.
std::optional<double> Middle(const std::optional<double>& low, const std::optional<double>& high) {
  return low && high ? std::optional((*low + *high) / 2) : low ? low : high;
}

std::string Verdict(const JsonValue& row) {
  if (row.At("holds").is_null()) {
    return "";
  }
  return row.At("holds").Bool() ? "holds" : "does not hold";
}

ReportRow Row(const JsonValue& row) {
  const std::optional<double> low = NumberOrNull(row.At("published_low"));
  const std::optional<double> high = NumberOrNull(row.At("published_high"));
  return {"",
          {{PrintableAscii(row.At("name").String()), std::nullopt},
           {TextOrNull(row.At("unit")), std::nullopt},
           NumberCell(NumberOrNull(row.At("ours"))),
           NumberCell(NumberOrNull(row.At("spread"))),
           {PublishedText(low, high), low == high ? low : std::nullopt},
           NumberCell(NumberOrNull(row.At("deviation"))),
           {Verdict(row), std::nullopt}}};
}

/// Bars of the rows that have both numbers, a panel for each unit: they share an axis. Rows without
/// a unit are ratios beside those that have one; where no row has, each is something else and there
/// is nothing to draw.
std::vector<ChartPanel> Panels(const JsonValue& rows, const std::string& published) {
  std::vector<ChartPanel> panels;
  std::vector<std::string> units;
  for (size_t i = 0; i < rows.size(); ++i) {
    const JsonValue row = rows.At(i);
    const std::optional<double> ours = NumberOrNull(row.At("ours"));
    const std::optional<double> theirs =
        Middle(NumberOrNull(row.At("published_low")), NumberOrNull(row.At("published_high")));
    if (!ours || !theirs) {
      continue;
    }
    const std::string unit = TextOrNull(row.At("unit"));
    size_t at = 0;
    while (at < units.size() && units[at] != unit) {
      ++at;
    }
    if (at == units.size()) {
      units.push_back(unit);
      ChartPanel& panel = panels.emplace_back();
      panel.kind = ChartPanel::Kind::kBars;
      panel.x = unit.empty() ? "ratio" : unit;
      panel.series = {{"ours", ""}, {published, "published"}};
    }
    panels[at].categories.push_back(PrintableAscii(row.At("name").String()));
    panels[at].series[0].values.push_back(ours);
    panels[at].series[1].values.push_back(theirs);
  }
  if (units.size() == 1 && units.front().empty()) {
    return {};
  }
  std::erase_if(panels,
                [](const ChartPanel& panel) { return panel.categories.size() < kLeastBars; });
  return panels;
}

/// Where the KV memory goes in a suite's runs, if they differ in nothing but their design: the
/// paper's figure 2.
std::optional<ReportChart> UsageChart(const JsonValue& suites, const std::string& suite) {
  constexpr std::array kParts = {"live", "reserved", "overestimate", "rounding", "free"};
  const JsonValue groups = suites.At(suite);
  if (groups.is_null() || groups.size() < kLeastBars) {
    return std::nullopt;
  }
  ReportChart chart;
  chart.title = "Where the KV memory goes";
  chart.caption = "Ours, means over seeds.";
  ChartPanel panel;
  panel.kind = ChartPanel::Kind::kStackedBars;
  panel.x = "share of the KV memory, %";
  panel.y_max = 100;
  chart.numbers.title = "Where the KV memory goes";
  chart.numbers.columns.push_back({"design", "", ""});
  for (const char* part : kParts) {
    panel.series.push_back({part, part});
    chart.numbers.columns.push_back(
        {part, "%", fmt::format("suites.{}[].mean.usage_{}", suite, part)});
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    const JsonValue group = groups.At(i);
    const JsonValue axes = group.At("axes");
    const JsonValue mean = group.At("mean");
    const std::string design = PrintableAscii(axes.At("design").String());
    if (std::find(panel.categories.begin(), panel.categories.end(), design) !=
        panel.categories.end()) {
      return std::nullopt;
    }
    panel.categories.push_back(design);
    ReportRow& row = chart.numbers.rows.emplace_back();
    row.cells.push_back({design, std::nullopt});
    for (size_t part = 0; part < kParts.size(); ++part) {
      const std::string key = std::string("usage_") + kParts[part];
      const double percent = 100 * mean.At(key).Number();
      panel.series[part].values.push_back(percent);
      row.cells.push_back({Thousands(percent, 1), percent});
    }
  }
  chart.panels.push_back(std::move(panel));
  return chart;
}

ReportSection Section(const JsonValue& value) {
  ReportSection section;
  section.id = "paper-" + PrintableAscii(value.At("key").String());
  section.title = PrintableAscii(value.At("title").String());
  const std::string reference = PrintableAscii(value.At("reference").String());
  section.text = fmt::format("Published: {}, {}. Where a range is published its middle is drawn.",
                             reference, PrintableAscii(value.At("source").String()));
  ReportTable table;
  table.title = section.title;
  table.columns = {{"row", "", ""},
                   {"unit", "", ""},
                   {"ours", "", "sections[].rows[].ours"},
                   {"+-", "", "sections[].rows[].spread"},
                   {reference, "", "sections[].rows[].published_low"},
                   {"off by", "", "sections[].rows[].deviation"},
                   {"verdict", "", ""}};
  const JsonValue notes = value.At("notes");
  for (size_t i = 0; i < notes.size(); ++i) {
    table.notes.push_back(PrintableAscii(notes.At(i).String()));
  }
  const JsonValue rows = value.At("rows");
  for (size_t i = 0; i < rows.size(); ++i) {
    const JsonValue row = rows.At(i);
    table.rows.push_back(Row(row));
    if (const std::string note = TextOrNull(row.At("note")); !note.empty()) {
      table.notes.push_back(table.rows.back().cells.front().text + ": " + note + ".");
    }
  }
  std::vector<ChartPanel> panels = Panels(rows, reference);
  if (panels.empty()) {
    section.tables.push_back(std::move(table));
  } else {
    section.charts.push_back({section.title, "", std::move(panels), std::move(table)});
  }
  return section;
}

}  // namespace

std::vector<ReportSection> PaperSections(std::string_view paper_json) {
  const nlohmann::json json = ParseJson(paper_json);
  const JsonValue file(json, "");
  const JsonValue values = file.At("sections");
  const JsonValue suites = file.At("suites");
  std::vector<ReportSection> sections;
  for (size_t i = 0; i < values.size(); ++i) {
    const JsonValue value = values.At(i);
    sections.push_back(Section(value));
    if (!suites.is_null()) {
      if (auto usage = UsageChart(suites, "paper/" + value.At("key").String())) {
        sections.back().charts.insert(sections.back().charts.begin(), std::move(*usage));
      }
    }
  }
  if (sections.empty()) {
    throw Error("there are no sections");
  }
  return sections;
}

}  // namespace kvbench
