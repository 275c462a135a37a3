#include "results/report/sections.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "results/record/label.h"

namespace kvbench {

std::string ShortNumber(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) {
    return "-";
  }
  const double size = std::abs(*value);
  if (size == std::floor(size) && size < 1e15) {
    return Thousands(value, 0);
  }
  int decimals = size >= 1'000 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  if (size < 0.1 && size > 0) {
    decimals = std::min(12, 2 - static_cast<int>(std::floor(std::log10(size))));
  }
  return Thousands(value, decimals);
}

ReportCell NumberCell(const std::optional<double>& value) {
  return {ShortNumber(value), value && std::isfinite(*value) ? value : std::nullopt};
}

std::string SeriesName(const TableGroup& group, const TableRow& row,
                       const std::vector<std::string>& but) {
  std::string name = row.name;
  if (group.varying_axes.empty()) {
    return name;
  }
  for (const Axis& axis : RunAxes(row.run())) {
    if (group.Varies(axis.name) && std::find(but.begin(), but.end(), axis.name) == but.end()) {
      name += " " + axis.name + "=" + PrintableAscii(axis.value);
    }
  }
  return name;
}

}  // namespace kvbench
