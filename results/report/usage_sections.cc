#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "results/report/sections.h"
#include "results/table/table_heading.h"

namespace kvbench {
namespace {

constexpr size_t kMostBars = 32;
constexpr size_t kMostPoints = 240;
constexpr size_t kRowsOfNumbers = 9;

/// A part of the usage: what it is called, in means over steps and at one moment.
struct Part {
  const char* name;
  double UsageShares::*share;
  int64_t TimelinePoint::*slots;
};

constexpr std::array<Part, 5> kParts = {{
    {"live", &UsageShares::live, &TimelinePoint::live},
    {"reserved", &UsageShares::reserved, &TimelinePoint::reserved},
    {"overestimate", &UsageShares::overestimate, &TimelinePoint::overestimate},
    {"rounding", &UsageShares::rounding, &TimelinePoint::rounding},
    {"free", &UsageShares::free, &TimelinePoint::free},
}};

/// Mean over repetitions, so that the parts add up; nothing where one has no usage.
std::optional<double> MeanPercent(const TableRow& row, double UsageShares::*part) {
  double sum = 0;
  for (const RunRecord* run : row.repetitions) {
    if (!run->kv.usage_per_step) {
      return std::nullopt;
    }
    sum += (*run->kv.usage_per_step).*part;
  }
  return 100 * sum / static_cast<double>(row.repetitions.size());
}

ReportChart UsageChart(const TableGroup& group) {
  ReportChart chart;
  chart.title = DescribeGroup(group).title;
  ChartPanel panel;
  panel.kind = ChartPanel::Kind::kStackedBars;
  panel.x = "share of the KV memory, %";
  panel.y_max = 100;
  chart.numbers.title = "Usage, " + chart.title;
  chart.numbers.columns.push_back({"design", "", ""});
  for (const Part& part : kParts) {
    panel.series.push_back({part.name, part.name});
    chart.numbers.columns.push_back(
        ColumnOf(RecordField(std::string("kv.usage_per_step.") + part.name)));
  }
  for (const TableRow& row : group.rows) {
    if (panel.categories.size() == kMostBars || !row.run().kv.usage_per_step) {
      continue;
    }
    panel.categories.push_back(SeriesName(group, row));
    ReportRow& numbers = chart.numbers.rows.emplace_back();
    numbers.label = row.run().label;
    numbers.cells.push_back({panel.categories.back(), std::nullopt});
    for (size_t i = 0; i < kParts.size(); ++i) {
      const std::optional<double> percent = MeanPercent(row, kParts[i].share);
      panel.series[i].values.push_back(percent);
      numbers.cells.push_back({Thousands(percent, 1), percent});
    }
  }
  if (group.rows.size() > panel.categories.size()) {
    chart.caption =
        fmt::format("{} of {} rows are shown; --only picks others.",
                    Thousands(std::ssize(panel.categories)), Thousands(std::ssize(group.rows)));
  }
  chart.panels.push_back(std::move(panel));
  return chart;
}

/// Indices of at most `most` points, the first and the last among them.
std::vector<size_t> Picked(size_t points, size_t most) {
  std::vector<size_t> picked;
  const size_t count = std::min(points, most);
  for (size_t i = 0; i < count; ++i) {
    picked.push_back(count == 1 ? 0 : i * (points - 1) / (count - 1));
  }
  return picked;
}

double PercentOf(int64_t slots, const RunRecord& run) {
  return 100 * static_cast<double>(slots) /
         static_cast<double>(std::max<int64_t>(1, run.design.capacity_slots));
}

ReportTable TimelineNumbers(const RunRecord& run) {
  ReportTable table;
  for (const Field& field : TimelinePoint::Describe().fields()) {
    table.columns.push_back(ColumnOf(RecordField("timeline." + field.key)));
  }
  for (const size_t i : Picked(run.timeline.size(), kRowsOfNumbers)) {
    const TimelinePoint& point = run.timeline[i];
    ReportRow row{run.label,
                  {NumberCell(point.time_s), NumberCell(static_cast<double>(point.running)),
                   NumberCell(static_cast<double>(point.waiting))}};
    for (const Part& part : kParts) {
      const double percent = PercentOf(point.*part.slots, run);
      row.cells.push_back({Thousands(percent, 1), percent});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

ReportChart TimelineChart(const TableGroup& group, const TableRow& row) {
  const RunRecord& run = row.run();
  ReportChart chart;
  chart.title = fmt::format("{}, {}", SeriesName(group, row), DescribeGroup(group).title);
  ChartPanel usage;
  usage.kind = ChartPanel::Kind::kStackedAreas;
  usage.x = "time, s";
  usage.y = "KV memory, %";
  usage.y_max = 100;
  ChartPanel requests;
  requests.x = "time, s";
  requests.y = "requests";
  requests.series = {{"running", "running"}, {"waiting", "waiting"}};
  for (const Part& part : kParts) {
    usage.series.push_back({part.name, part.name});
  }
  for (const size_t i : Picked(run.timeline.size(), kMostPoints)) {
    const TimelinePoint& point = run.timeline[i];
    for (size_t part = 0; part < kParts.size(); ++part) {
      usage.series[part].points.emplace_back(point.time_s,
                                             PercentOf(point.*kParts[part].slots, run));
    }
    requests.series[0].points.emplace_back(point.time_s, static_cast<double>(point.running));
    requests.series[1].points.emplace_back(point.time_s, static_cast<double>(point.waiting));
  }
  chart.numbers = TimelineNumbers(run);
  chart.numbers.title = "Over time, " + chart.title;
  chart.caption = fmt::format("Repetition {}; the table has {} of {} points.", run.repetition,
                              chart.numbers.rows.size(), Thousands(std::ssize(run.timeline)));
  chart.panels = {std::move(usage), std::move(requests)};
  chart.numbers_open = false;
  return chart;
}

}  // namespace

ReportSection UsageSection(const std::vector<TableGroup>& groups) {
  ReportSection section{
      "usage", "Where the KV memory goes",
      "Mean over steps. live: slots that hold a token. reserved: held for tokens to come. "
      "overestimate: reserved, but never needed. rounding: chunks and blocks that are larger than "
      "asked for. free: the rest. The vLLM paper's figure 2 calls them token states, reservation, "
      "internal fragmentation, and, the last two together, external fragmentation and others."};
  for (const TableGroup& group : groups) {
    ReportChart chart = UsageChart(group);
    if (!chart.numbers.rows.empty() && section.charts.size() < kMostBars) {
      section.charts.push_back(std::move(chart));
    }
  }
  return section;
}

ReportSection TimelineSection(const std::vector<TableGroup>& groups) {
  ReportSection section{"timeline", "The same over time", ""};
  for (const TableGroup& group : groups) {
    for (const TableRow& row : group.rows) {
      if (row.run().timeline.size() < 2) {
        continue;
      }
      if (section.charts.size() < kMostTimelines) {
        section.charts.push_back(TimelineChart(group, row));
      }
    }
  }
  if (section.charts.size() == kMostTimelines) {
    section.text = fmt::format("{} runs are shown at most; --only picks others.", kMostTimelines);
  }
  return section;
}

}  // namespace kvbench
