#include "results/table/table_rows.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "base/text.h"
#include "results/compare/statistics.h"
#include "results/record/label.h"

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

/// The group's key. Rates and seeds are in the digest, but two traces may have the same requests.
std::string GroupKey(const RunRecord& run, Grouping grouping) {
  std::string key = run.model.name + "\n" + run.trace.name;
  return grouping == Grouping::kTrace ? key + "\n" + run.trace.sha256 : key;
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
  std::vector<bool> varies;
  for (size_t axis = 0; axis < axes.front().size(); ++axis) {
    varies.push_back(AxisVaries(group.rows, axes, axis));
  }
  const auto explained_by = [&](std::string_view name) {
    for (size_t axis = 0; axis < varies.size(); ++axis) {
      if (varies[axis] && axes.front()[axis].name == name) {
        return true;
      }
    }
    return false;
  };
  for (size_t axis = 0; axis < axes.front().size(); ++axis) {
    const std::string& name = axes.front()[axis].name;
    // Another rate or seed is another trace: its digest tells nothing more.
    if (name == "design" || name == "block-size" || name == "growth" || !varies[axis] ||
        (name == "trace" && (explained_by("rate") || explained_by("seed")))) {
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
  std::unordered_map<std::string, size_t> place;
  for (const TableRow& row : rows) {
    place.try_emplace(row.varying, place.size());
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const TableRow& a, const TableRow& b) {
    return place.find(a.varying)->second < place.find(b.varying)->second;
  });
}

}  // namespace

bool TableGroup::Varies(const std::string& axis) const {
  return std::find(varying_axes.begin(), varying_axes.end(), axis) != varying_axes.end();
}

std::vector<TableGroup> GroupRuns(const ResultsFile& file) {
  std::vector<const RunRecord*> runs;
  runs.reserve(file.runs.size());
  for (const RunRecord& run : file.runs) {
    runs.push_back(&run);
  }
  return GroupRuns(runs, Grouping::kTrace);
}

std::vector<TableGroup> GroupRuns(const std::vector<const RunRecord*>& runs, Grouping grouping) {
  std::vector<TableGroup> groups;
  std::unordered_map<std::string, size_t> group_of;
  std::vector<std::unordered_map<std::string_view, size_t>> row_of;  // by label, in each group
  for (const RunRecord* run : runs) {
    const auto [group, is_new] = group_of.try_emplace(GroupKey(*run, grouping), groups.size());
    if (is_new) {
      groups.emplace_back();
      row_of.emplace_back();
    }
    std::vector<TableRow>& rows = groups[group->second].rows;
    const auto [row, is_new_row] = row_of[group->second].try_emplace(run->label, rows.size());
    if (is_new_row) {
      rows.emplace_back();
    }
    rows[row->second].repetitions.push_back(run);
  }
  for (TableGroup& group : groups) {
    for (TableRow& row : group.rows) {
      row.name = DesignText(row.run().design);
      FillFigures(row);
    }
    FindVaryingAxes(group);
    SortByVaryingAxes(group.rows);
  }
  return groups;
}

}  // namespace kvbench
