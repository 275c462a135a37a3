#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/statistics.h"
#include "base/text.h"
#include "results/report/sections.h"
#include "results/table/table_heading.h"

namespace kvbench {
namespace {

struct Latency {
  const char* name;
  LatencyStats RunRecord::*stats;
};

constexpr std::array<Latency, 4> kLatencies = {{{"TTFT", &RunRecord::ttft},
                                                {"TPOT", &RunRecord::tpot},
                                                {"ITL", &RunRecord::itl},
                                                {"E2EL", &RunRecord::e2el}}};

/// Calls `take` for the index of each percentile that a curve has.
template <typename Take>
void ForEachPercentile(const Take& take) {
  for (size_t i = 0; i < kLatencyStatistics.size(); ++i) {
    // The median is p50 once more.
    if (kLatencyStatistics[i].kind == LatencyStatistic::Kind::kPercentile &&
        kLatencyStatistics[i].name != "median") {
      take(i);
    }
  }
}

ChartPanel PercentilePanel(const Latency& latency) {
  ChartPanel panel;
  panel.x = "percentile over requests";
  panel.y = std::string(latency.name) + ", ms";
  panel.log_y = true;
  ForEachPercentile([&](size_t i) { panel.categories.emplace_back(kLatencyStatistics[i].name); });
  return panel;
}

ChartSeries PercentileSeries(const std::string& name, const LatencyStats& stats) {
  ChartSeries series{name, ""};
  ForEachPercentile([&](size_t i) {
    // A logarithmic axis has no 0.
    const std::optional<double>& value = stats.values[i];
    series.values.push_back(value && *value > 0 ? value : std::nullopt);
  });
  return series;
}

/// Every percentile from 0 to 100 of the values that are there.
ChartSeries QuantileSeries(const std::string& name, std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  std::sort(values.begin(), values.end());
  ChartSeries series{name, ""};
  for (int percent = 0; percent <= 100; ++percent) {
    const std::optional<double> value = Percentile(values, percent);
    if (value && *value > 0) {
      series.points.emplace_back(percent, *value);
    }
  }
  return series;
}

void AddNumbers(const TableRow& row, const std::string& name, ReportTable& table) {
  for (const Latency& latency : kLatencies) {
    ReportRow numbers{row.run().label, {{name, std::nullopt}, {latency.name, std::nullopt}}};
    ForEachPercentile([&](size_t i) {
      numbers.cells.push_back(NumberCell((row.run().*latency.stats).values[i]));
    });
    table.rows.push_back(std::move(numbers));
  }
}

ReportChart LatencyChart(const TableGroup& group, const std::vector<const TableRow*>& rows,
                         const std::string& varying) {
  ReportChart chart;
  const bool title_has_axes = !varying.empty();
  chart.title = DescribeGroup(group).title + (title_has_axes ? ", " + varying : "");
  chart.numbers.title = "Latencies, " + chart.title;
  chart.numbers.columns = {{"design", "", ""}, {"latency", "", ""}};
  ForEachPercentile([&](size_t i) {
    const std::string name(kLatencyStatistics[i].name);
    chart.numbers.columns.push_back({name, "ms", name + "_{latency}_ms"});
  });
  ChartPanel ttft = PercentilePanel(kLatencies[0]);
  ChartPanel tpot = PercentilePanel(kLatencies[1]);
  ChartPanel all_ttft;
  all_ttft.x = "requests, % (that were at least as fast)";
  all_ttft.y = "TTFT of all requests, ms";
  all_ttft.log_y = true;
  ChartPanel all_e2el = all_ttft;
  all_e2el.y = "E2EL of all requests, ms";
  size_t shown = 0;
  for (const TableRow* row : rows) {
    const RunRecord& run = row->run();
    if (!run.ttft["p50"] || shown == kMostSeries) {
      continue;
    }
    ++shown;
    // Where the title has the axes that vary, the design is left.
    const std::string name = title_has_axes ? row->name : SeriesName(group, *row);
    ttft.series.push_back(PercentileSeries(name, run.ttft));
    tpot.series.push_back(PercentileSeries(name, run.tpot));
    if (run.samples.requests) {
      all_ttft.series.push_back(QuantileSeries(name, run.samples.requests->ttft_ms));
      all_e2el.series.push_back(QuantileSeries(name, run.samples.requests->e2el_ms));
    }
    AddNumbers(*row, name, chart.numbers);
  }
  chart.caption = "Logarithmic. Of the first repetition.";
  if (shown < rows.size()) {
    chart.caption += fmt::format(" {} of {} rows are shown; --only picks others.", shown,
                                 Thousands(std::ssize(rows)));
  }
  chart.panels = {std::move(ttft), std::move(tpot)};
  if (!all_ttft.series.empty()) {
    chart.panels.push_back(std::move(all_ttft));
    chart.panels.push_back(std::move(all_e2el));
  }
  return chart;
}

/// Rows that differ in nothing but their design, together; all of them where no two do.
std::vector<std::vector<const TableRow*>> ByVaryingAxes(const TableGroup& group) {
  std::vector<std::vector<const TableRow*>> parts;
  std::vector<const TableRow*> all;
  size_t largest = 0;
  for (const TableRow& row : group.rows) {
    if (parts.empty() || parts.back().front()->varying != row.varying) {
      parts.emplace_back();
    }
    parts.back().push_back(&row);
    all.push_back(&row);
    largest = std::max(largest, parts.back().size());
  }
  return largest > 1 ? parts : std::vector<std::vector<const TableRow*>>{all};
}

}  // namespace

ReportSection LatencySection(const std::vector<TableGroup>& groups) {
  ReportSection section{
      "latency", "Latencies",
      "TTFT: from a request's scheduled arrival to its first token. TPOT: time for each further "
      "token. ITL: between neighbouring tokens. E2EL: from the arrival to the last token."};
  int64_t charts = 0;
  for (const TableGroup& group : groups) {
    const auto parts = ByVaryingAxes(group);
    for (const std::vector<const TableRow*>& rows : parts) {
      ++charts;
      if (section.charts.size() == kMostCharts) {
        continue;
      }
      ReportChart chart = LatencyChart(group, rows, parts.size() > 1 ? rows.front()->varying : "");
      if (!chart.numbers.rows.empty()) {
        section.charts.push_back(std::move(chart));
      }
    }
  }
  if (charts > std::ssize(section.charts) && section.charts.size() == kMostCharts) {
    section.text += fmt::format(" {} of {} charts are shown; --only picks others.",
                                section.charts.size(), Thousands(charts));
  }
  return section;
}

}  // namespace kvbench
