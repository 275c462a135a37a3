#include "results/report/report_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

/// A figure of a run and how it is shown.
struct Figure {
  ReportColumn column;
  std::optional<double> (*value)(const RunRecord&);
  int decimals;
};

std::optional<double> Percent(const std::optional<double>& share) {
  return share ? std::optional(100 * *share) : std::nullopt;
}

const std::vector<Figure>& Figures() {
  using Run = const RunRecord&;
  using Value = std::optional<double>;
  static const std::vector<Figure> figures = {
      {{"KV waste", "%", "kv.waste_of_allocated"},
       [](Run run) { return Percent(run.kv.waste_of_allocated); },
       1},
      {{"KV live", "%", "kv.token_usage"}, [](Run run) { return Percent(run.kv.token_usage); }, 1},
      {{"running", "mean", "while_waiting.mean_running_requests"},
       [](Run run) {
         return run.while_waiting ? run.while_waiting->mean_running_requests : Value();
       },
       1},
      {{"running", "peak", "peak_running_requests"},
       [](Run run) { return Value(run.peak_running_requests); },
       0},
      {{"preempted", "", "preemptions"}, [](Run run) { return Value(run.preemptions); }, 0},
      {{"output", "tokens/s", "output_throughput"},
       [](Run run) { return run.output_throughput; },
       1},
      {{"TTFT", "median ms", "median_ttft_ms"}, [](Run run) { return run.ttft.median; }, 1},
      {{"TTFT", "p99 ms", "p99_ttft_ms"}, [](Run run) { return run.ttft.p99; }, 1},
      {{"TPOT", "median ms", "median_tpot_ms"}, [](Run run) { return run.tpot.median; }, 2},
      {{"latency", "s/token", "normalized_latency_mean_s_per_token"},
       [](Run run) { return run.normalized_latency_mean_s_per_token; },
       3},
      {{"done", "", "completed"}, [](Run run) { return Value(run.completed); }, 0},
      {{"rejected", "", "rejected"}, [](Run run) { return Value(run.rejected); }, 0},
  };
  return figures;
}

std::optional<double> MedianOver(const std::vector<const RunRecord*>& runs, const Figure& figure) {
  std::vector<double> values;
  for (const RunRecord* run : runs) {
    if (const std::optional<double> value = figure.value(*run); value && std::isfinite(*value)) {
      values.push_back(*value);
    }
  }
  return Median(std::move(values));
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
  for (const Figure& figure : Figures()) {
    const std::optional<double> value = MedianOver(row.repetitions, figure);
    made.cells.push_back({Thousands(value, figure.decimals), value});
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
    for (const Figure& figure : Figures()) {
      table.columns.push_back(figure.column);
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
