#include "results/table_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "results/label.h"
#include "results/statistics.h"
#include "results/text.h"

namespace kvbench {
namespace {

template <typename Get>
std::optional<double> MedianOf(const std::vector<const RunRecord*>& runs, Get get) {
  std::vector<double> values;
  for (const RunRecord* run : runs) {
    if (const std::optional<double> value = get(*run)) {
      values.push_back(*value);
    }
  }
  return Median(std::move(values));
}

std::optional<double> Percent(const std::optional<double>& share) {
  return share ? std::optional(100 * *share) : std::nullopt;
}

std::string RowName(const DesignInfo& design) {
  const std::string name = PrintableAscii(design.name);
  return design.block_size ? fmt::format("{}/{}", name, *design.block_size) : name;
}

void FillFigures(TableRow& row) {
  const auto& runs = row.repetitions;
  using Value = std::optional<double>;
  row.waste_percent =
      MedianOf(runs, [](const RunRecord& run) { return Percent(run.kv.waste_of_allocated); });
  row.live_percent =
      MedianOf(runs, [](const RunRecord& run) { return Percent(run.kv.token_usage); });
  row.running = MedianOf(runs, [](const RunRecord& run) {
    return run.while_waiting ? run.while_waiting->mean_running_requests : Value();
  });
  row.peak_running =
      MedianOf(runs, [](const RunRecord& run) { return Value(run.peak_running_requests); });
  row.preemptions = MedianOf(runs, [](const RunRecord& run) { return Value(run.preemptions); });
  row.output_tokens_per_s =
      MedianOf(runs, [](const RunRecord& run) { return run.output_throughput; });
  row.median_ttft_ms = MedianOf(runs, [](const RunRecord& run) { return run.ttft.median; });
  row.median_tpot_ms = MedianOf(runs, [](const RunRecord& run) { return run.tpot.median; });
  row.completed = MedianOf(runs, [](const RunRecord& run) { return Value(run.completed); });
  row.rejected = MedianOf(runs, [](const RunRecord& run) { return Value(run.rejected); });
}

TableRow& RowFor(const RunRecord& run, std::vector<TableRow>& rows) {
  for (TableRow& row : rows) {
    if (row.run().label == run.label) {
      return row;
    }
  }
  return rows.emplace_back();
}

/// The group's key. Rates and seeds are in the digest, but two traces may have the same requests.
bool SameGroup(const RunRecord& a, const RunRecord& b) {
  return a.model.name == b.model.name && a.trace.name == b.trace.name &&
         a.trace.sha256 == b.trace.sha256;
}

/// Axes that a design brings along: they tell rows apart only where one design has several values.
bool ComesWithTheDesign(const std::string& axis) {
  return axis == "preemption" || axis == "watermark";
}

/// Axes that say which machine an executor stands for: they tell rows apart only where one executor
/// has several values.
bool ComesWithTheExecutor(const std::string& axis) {
  return axis == "calibration" || axis == "tensor-parallel-size" || axis == "threads";
}

/// Whether an axis has several values, among the rows of one name alone where the design brings it
/// along, among those of one executor where that does.
bool AxisVaries(const std::vector<TableRow>& rows, const std::vector<std::vector<Axis>>& axes,
                size_t axis) {
  const bool within_design = ComesWithTheDesign(axes.front()[axis].name);
  const bool within_executor = ComesWithTheExecutor(axes.front()[axis].name);
  std::map<std::string, std::string> first_value;
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::string& value = axes[row][axis].value;
    const auto [known, is_new] =
        first_value.try_emplace(within_design     ? rows[row].name
                                : within_executor ? rows[row].run().executor.kind
                                                  : "",
                                value);
    if (!is_new && known->second != value) {
      return true;
    }
  }
  return false;
}

void FindVaryingAxes(TableGroup& group) {
  std::vector<std::vector<Axis>> axes;
  axes.reserve(group.rows.size());
  for (const TableRow& row : group.rows) {
    axes.push_back(RunAxes(row.run()));
  }
  for (size_t axis = 0; axis < axes.front().size(); ++axis) {
    const std::string& name = axes.front()[axis].name;
    if (name == "design" || name == "block-size" || !AxisVaries(group.rows, axes, axis)) {
      continue;
    }
    group.varying_axes.push_back(name);
    for (size_t row = 0; row < group.rows.size(); ++row) {
      std::string& varying = group.rows[row].varying;
      varying += (varying.empty() ? "" : " ") + name + "=" + PrintableAscii(axes[row][axis].value);
    }
  }
}

void SortByVaryingAxes(std::vector<TableRow>& rows) {
  std::vector<std::string> order;
  const auto place = [&](const TableRow& row) {
    return std::find(order.begin(), order.end(), row.varying) - order.begin();
  };
  for (const TableRow& row : rows) {
    if (place(row) == std::ssize(order)) {
      order.push_back(row.varying);
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const TableRow& a, const TableRow& b) { return place(a) < place(b); });
}

}  // namespace

bool TableGroup::Varies(const std::string& axis) const {
  return std::find(varying_axes.begin(), varying_axes.end(), axis) != varying_axes.end();
}

std::vector<TableGroup> GroupRuns(const ResultsFile& file) {
  std::vector<TableGroup> groups;
  for (const RunRecord& run : file.runs) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const TableGroup& candidate) {
      return SameGroup(candidate.rows.front().run(), run);
    });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), TableGroup());
    }
    RowFor(run, group->rows).repetitions.push_back(&run);
  }
  for (TableGroup& group : groups) {
    for (TableRow& row : group.rows) {
      row.name = RowName(row.run().design);
      FillFigures(row);
    }
    FindVaryingAxes(group);
    SortByVaryingAxes(group.rows);
  }
  return groups;
}

}  // namespace kvbench
