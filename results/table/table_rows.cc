#include "results/table/table_rows.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "base/statistics.h"
#include "base/text.h"
#include "results/record/label.h"

namespace kvbench {
namespace {

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

const std::vector<RecordField>& TableFields() {
  static const std::vector<RecordField> fields = [] {
    std::vector<RecordField> made;
    for (const char* path :
         {"kv.waste_of_allocated", "kv.token_usage", "while_waiting.mean_running_requests",
          "peak_running_requests", "preemptions", "output_throughput", "median_ttft_ms",
          "median_tpot_ms", "completed", "rejected"}) {
      made.emplace_back(path);
    }
    return made;
  }();
  return fields;
}

std::optional<double> MedianShown(const std::vector<const RunRecord*>& runs,
                                  const RecordField& field) {
  std::vector<double> values;
  for (const RunRecord* run : runs) {
    if (const std::optional<double> value = field.Shown(*run)) {
      values.push_back(*value);
    }
  }
  return Median(std::move(values));
}

const std::optional<double>& TableRow::Figure(std::string_view path) const {
  size_t index = 0;
  while (TableFields()[index].path() != path) {
    ++index;
  }
  return figures[index];
}

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
      for (const RecordField& field : TableFields()) {
        row.figures.push_back(MedianShown(row.repetitions, field));
      }
    }
    FindVaryingAxes(group);
    SortByVaryingAxes(group.rows);
  }
  return groups;
}

}  // namespace kvbench
