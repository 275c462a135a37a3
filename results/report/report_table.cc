#include "results/report/report_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/statistics.h"
#include "base/text.h"
#include "results/record/label.h"
#include "results/table/table_heading.h"
#include "results/table/table_notes.h"
#include "results/table/table_rows.h"

namespace kvbench {
namespace {

constexpr size_t kMostNotes = 12;
constexpr size_t kLongestNote = 600;

const std::vector<RecordField>& Figures() {
  static const std::vector<RecordField> figures = [] {
    std::vector<RecordField> made;
    for (const char* path :
         {"kv.waste_of_allocated", "kv.token_usage", "while_waiting.mean_running_requests",
          "peak_running_requests", "preemptions", "output_throughput", "median_ttft_ms",
          "p99_ttft_ms", "median_tpot_ms", "normalized_latency_mean_s_per_token", "completed",
          "rejected"}) {
      made.emplace_back(path);
    }
    return made;
  }();
  return figures;
}

std::string AxisValue(const std::vector<Axis>& axes, const std::string& name) {
  for (const Axis& axis : axes) {
    if (axis.name == name) {
      return PrintableAscii(axis.value);
    }
  }
  return "";
}

ReportRow MakeRow(const TableGroup& group, const TableRow& row) {
  ReportRow made;
  made.label = row.run().label;
  made.cells.push_back({row.name, std::nullopt});
  const std::vector<Axis> axes =
      group.varying_axes.empty() ? std::vector<Axis>() : RunAxes(row.run());
  for (const std::string& axis : group.varying_axes) {
    made.cells.push_back({AxisValue(axes, axis), std::nullopt});
  }
  for (const RecordField& figure : Figures()) {
    const std::optional<double> value = MedianShown(row.repetitions, figure);
    made.cells.push_back({Thousands(value, figure.field().options.heading.decimals), value});
  }
  return made;
}

std::vector<std::string> Notes(const TableGroup& group) {
  std::vector<std::string> notes = GroupNotes(group);
  if (notes.size() > kMostNotes) {
    const size_t left = notes.size() - kMostNotes;
    notes.resize(kMostNotes);
    notes.push_back(fmt::format("{} more notes are left out here.", Thousands(int64_t(left))));
  }
  for (std::string& note : notes) {
    if (note.size() > kLongestNote) {
      note = note.substr(0, kLongestNote) + " ...";
    }
  }
  return notes;
}

}  // namespace

ReportColumn ColumnOf(const RecordField& field) {
  return {field.field().options.heading.name, field.field().heading_unit, field.path()};
}

std::vector<ReportTable> MainTables(const std::vector<const RunRecord*>& runs) {
  std::vector<ReportTable> tables;
  for (const TableGroup& group : GroupRuns(runs, Grouping::kTraceName)) {
    ReportTable& table = tables.emplace_back();
    const GroupHeading heading = DescribeGroup(group);
    table.title = heading.title;
    for (const HeadingLine& line : heading.lines) {
      table.facts.push_back(line.name + ": " + PrintableAscii(line.text));
    }
    table.columns.push_back({"design", "", ""});
    for (const std::string& axis : group.varying_axes) {
      table.columns.push_back({axis, "", ""});
    }
    for (const RecordField& figure : Figures()) {
      table.columns.push_back(ColumnOf(figure));
    }
    table.rows.reserve(group.rows.size());
    for (const TableRow& row : group.rows) {
      table.rows.push_back(MakeRow(group, row));
    }
    table.notes = Notes(group);
  }
  return tables;
}

}  // namespace kvbench
