#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/report/report_table.h"

namespace kvbench {

inline constexpr size_t kMostSeries = 8;   ///< of a panel: as many as the palette has
inline constexpr size_t kMostCharts = 12;  ///< of a section

/// One set of marks. Of bars and of curves over categories it has a value for each category, of
/// other curves points.
struct ChartSeries {
  std::string name;
  std::string
      role;  ///< "live", "reserved", ...: has its own colour; empty: the next of the palette
  std::vector<std::optional<double>> values = {};
  std::vector<std::pair<double, double>> points = {};
  /// Of intervals: from and to around each value that is there; where both are the value itself
  /// nothing is known of its interval.
  std::vector<std::optional<std::pair<double, double>>> ranges = {};
};

/// One pair of axes.
struct ChartPanel {
  enum class Kind { kBars, kStackedBars, kCurves, kStackedAreas, kIntervals };
  Kind kind = Kind::kCurves;
  std::string x;  ///< label of the axis, with its unit
  std::string y;
  bool log_y = false;
  std::optional<double> y_max = std::nullopt;
  /// Bars and intervals lie: they are on the vertical axis.
  std::vector<std::string> categories = {};
  std::vector<double> guides = {};  ///< of intervals: where values are compared with
  std::vector<ChartSeries> series = {};
};

/// A figure of the page. Everything that it shows is in `numbers` as well, or, of curves with many
/// points, enough of it to be read without seeing them.
struct ReportChart {
  std::string title;
  std::string caption;  ///< what to see, and where the numbers are from: keys of the record
  std::vector<ChartPanel> panels;
  ReportTable numbers;
  bool numbers_open = true;  ///< false: shown on a click, since the table is only an excerpt
};

struct ReportSection {
  std::string id;  ///< of the page's anchor
  std::string title;
  std::string text;  ///< a sentence or two under the title; may be empty
  std::vector<ReportTable> tables = {};
  std::vector<ReportChart> charts = {};
  bool empty() const { return tables.empty() && charts.empty(); }
};

/// What the page's script draws.
nlohmann::ordered_json ChartJson(const ReportChart& chart);

}  // namespace kvbench
