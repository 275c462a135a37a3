#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics.h"
#include "base/text.h"
#include "results/report/sections.h"
#include "results/table/table_heading.h"

namespace kvbench {
namespace {

/// What a point of a curve is made of, means over seeds of medians over repetitions.
struct Point {
  std::vector<double> output;
  std::vector<double> latency;
  std::vector<double> ttft;
  std::vector<double> ttft_p99;
  std::vector<double> live;
  std::vector<double> waste;
  std::string label;
};

void Add(const std::optional<double>& value, std::vector<double>& values, double scale = 1) {
  if (value && std::isfinite(*value)) {
    values.push_back(scale * *value);
  }
}

void AddRow(const TableRow& row, Point& point) {
  const RunRecord& run = row.run();
  point.label = run.label;
  Add(row.output(), point.output);
  Add(run.normalized_latency_mean_s_per_token, point.latency);
  Add(row.Figure("median_ttft_ms"), point.ttft);
  Add(run.ttft["p99"], point.ttft_p99);
  Add(row.Figure("kv.token_usage"), point.live);
  Add(row.Figure("kv.waste_of_allocated"), point.waste);
}

/// Curves by name in the order of their first appearance, points by x.
struct Curves {
  std::vector<std::string> names;
  std::map<std::string, std::map<double, Point>> points;
  size_t left_out = 0;

  Point* At(const std::string& name, double x) {
    if (!points.contains(name)) {
      if (names.size() == kMostSeries) {
        ++left_out;
        return nullptr;
      }
      names.push_back(name);
    }
    return &points[name][x];
  }
  size_t most_points() const {
    size_t most = 0;
    for (const auto& [name, curve] : points) {
      most = std::max(most, curve.size());
    }
    return most;
  }
};

std::string LeftOut(const Curves& curves) {
  return curves.left_out == 0
             ? ""
             : fmt::format(" {} more points of other designs are left out; --only picks.",
                           curves.left_out);
}

ReportChart RateChart(const TableGroup& group, const Curves& curves) {
  ReportChart chart;
  chart.title = DescribeGroup(group).title;
  chart.caption =
      "Mean end-to-end latency divided by output tokens, logarithmic; lower and further "
      "right is better. Means over seeds." +
      LeftOut(curves);
  chart.numbers.title = "Rates, " + chart.title;
  chart.numbers.columns = {{"design", "", ""},
                           ColumnOf(RecordField("trace.request_rate")),
                           ColumnOf(RecordField("output_throughput")),
                           ColumnOf(RecordField("normalized_latency_mean_s_per_token")),
                           ColumnOf(RecordField("median_ttft_ms")),
                           ColumnOf(RecordField("p99_ttft_ms"))};
  ChartPanel over_rate;
  over_rate.x = "requests offered a second";
  over_rate.y = "latency, s/token";
  over_rate.log_y = true;
  ChartPanel over_output = over_rate;
  over_output.x = "output tokens a second";
  for (const std::string& name : curves.names) {
    ChartSeries by_rate{name, ""};
    ChartSeries by_output{name, ""};
    for (const auto& [rate, point] : curves.points.at(name)) {
      const std::optional<double> latency = Mean(point.latency);
      const std::optional<double> output = Mean(point.output);
      if (latency && output) {
        by_rate.points.emplace_back(rate, *latency);
        by_output.points.emplace_back(*output, *latency);
      }
      chart.numbers.rows.push_back({point.label,
                                    {{name, std::nullopt},
                                     NumberCell(rate),
                                     NumberCell(output),
                                     NumberCell(latency),
                                     NumberCell(Mean(point.ttft)),
                                     NumberCell(Mean(point.ttft_p99))}});
    }
    over_rate.series.push_back(std::move(by_rate));
    over_output.series.push_back(std::move(by_output));
  }
  chart.panels = {std::move(over_rate), std::move(over_output)};
  return chart;
}

ReportChart BlockSizeChart(const TableGroup& group, const Curves& curves) {
  ReportChart chart;
  chart.title = DescribeGroup(group).title;
  chart.caption =
      "Live: of all slots, those that hold a token. Output: tokens generated a second." +
      LeftOut(curves);
  chart.numbers.title = "Block sizes, " + chart.title;
  chart.numbers.columns = {{"design", "", ""},
                           ColumnOf(RecordField("design.block_size")),
                           ColumnOf(RecordField("kv.token_usage")),
                           ColumnOf(RecordField("kv.waste_of_allocated")),
                           ColumnOf(RecordField("output_throughput"))};
  ChartPanel live;
  live.x = "block size, tokens";
  live.y = "KV live, %";
  ChartPanel output = live;
  output.y = "output tokens a second";
  std::map<double, size_t> place;
  for (const auto& [name, curve] : curves.points) {
    for (const auto& [block_size, point] : curve) {
      place[block_size] = 0;
    }
  }
  for (auto& [block_size, index] : place) {
    index = live.categories.size();
    live.categories.push_back(ShortNumber(block_size));
  }
  output.categories = live.categories;
  for (const std::string& name : curves.names) {
    ChartSeries live_series{name, "", std::vector<std::optional<double>>(place.size())};
    ChartSeries output_series = live_series;
    for (const auto& [block_size, point] : curves.points.at(name)) {
      live_series.values[place[block_size]] = Mean(point.live);
      output_series.values[place[block_size]] = Mean(point.output);
      chart.numbers.rows.push_back({point.label,
                                    {{name, std::nullopt},
                                     NumberCell(block_size),
                                     NumberCell(Mean(point.live)),
                                     NumberCell(Mean(point.waste)),
                                     NumberCell(Mean(point.output))}});
    }
    live.series.push_back(std::move(live_series));
    output.series.push_back(std::move(output_series));
  }
  chart.panels = {std::move(live), std::move(output)};
  return chart;
}

}  // namespace

ReportSection RateSection(const std::vector<TableGroup>& groups) {
  ReportSection section{"rates", "Throughput and latency over request rates", ""};
  for (const TableGroup& group : groups) {
    if (!group.Varies("rate") || section.charts.size() == kMostCharts) {
      continue;
    }
    Curves curves;
    for (const TableRow& row : group.rows) {
      const std::optional<double>& rate = row.run().trace.request_rate;
      if (!rate || !std::isfinite(*rate)) {
        continue;
      }
      if (Point* point = curves.At(SeriesName(group, row, {"rate", "seed", "trace"}), *rate)) {
        AddRow(row, *point);
      }
    }
    if (curves.most_points() > 1) {
      section.charts.push_back(RateChart(group, curves));
    }
  }
  return section;
}

ReportSection BlockSizeSection(const std::vector<TableGroup>& groups) {
  ReportSection section{"block-sizes", "Block sizes", ""};
  for (const TableGroup& group : groups) {
    Curves curves;
    for (const TableRow& row : group.rows) {
      const DesignInfo& design = row.run().design;
      if (!design.block_size) {
        continue;
      }
      // The block size stands behind the slash of the row's name: it is the axis here.
      std::string name = SeriesName(group, row, {"seed", "trace"});
      name = PrintableAscii(design.name) + name.substr(row.name.size());
      if (Point* point = curves.At(name, static_cast<double>(*design.block_size))) {
        AddRow(row, *point);
      }
    }
    if (curves.most_points() > 1 && section.charts.size() < kMostCharts) {
      section.charts.push_back(BlockSizeChart(group, curves));
    }
  }
  return section;
}

}  // namespace kvbench
