#include "bench/run/rate_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "bench/output/text_table.h"
#include "results/record/label.h"

namespace kvbench {

namespace {

constexpr const char* kShown[] = {"model", "hardware", "design", "block-size", "scheduler", "seed"};

std::string ValueOf(const RunRecord& record, const std::string& axis) {
  for (const Axis& own : RunAxes(record)) {
    if (own.name == axis) {
      return PrintableAscii(own.value);
    }
  }
  return "";
}

std::string RateText(const RateBounds& bounds) {
  if (bounds.holds && bounds.misses) {
    return fmt::format("{:.5g}", *bounds.holds);
  }
  return bounds.holds ? "any" : "none";
}

}  // namespace

std::string RateTable(const std::vector<SearchedRun>& runs) {
  if (runs.empty()) {
    return "";
  }
  std::vector<std::string> shown;
  for (const std::string axis : kShown) {
    const std::string first = ValueOf(*runs.front().record, axis);
    const bool varies = std::any_of(runs.begin(), runs.end(), [&](const SearchedRun& run) {
      return ValueOf(*run.record, axis) != first;
    });
    if (varies || axis == "design") {
      shown.push_back(axis);
    }
  }
  std::vector<TextTable::Align> columns(shown.size(), TextTable::Align::kLeft);
  columns.push_back(TextTable::Align::kRight);
  TextTable table(columns);
  std::vector<std::string> cells = shown;
  cells.emplace_back("requests/s");
  table.Add(std::move(cells));
  for (const SearchedRun& run : runs) {
    cells.clear();
    for (const std::string& axis : shown) {
      cells.push_back(ValueOf(*run.record, axis));
    }
    cells.push_back(RateText(run.bounds));
    table.Add(std::move(cells));
  }
  return "== Highest rates that hold the goal ==\n\n" + table.Text();
}

}  // namespace kvbench
