#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/record/record.h"

namespace kvbench {

/// One line of the table: all repetitions of one label. Figures are medians over them.
struct TableRow {
  std::vector<const RunRecord*> repetitions;  ///< at least one, in file order
  std::string name;                           ///< "paged/16", "contiguous-max"
  std::string
      varying;  ///< axes besides the design that vary in the group: "max-num-seqs=256"; often empty

  std::optional<double> waste_percent;  ///< KV waste of allocated slots
  std::optional<double> live_percent;   ///< of the capacity
  std::optional<double> running;        ///< mean over the steps that left requests waiting
  std::optional<double> peak_running;
  std::optional<double> preemptions;
  std::optional<double> output_tokens_per_s;
  std::optional<double> median_ttft_ms;
  std::optional<double> median_tpot_ms;
  std::optional<double> completed;
  std::optional<double> rejected;

  const RunRecord& run() const { return *repetitions.front(); }
  /// The name, with the varying axes behind it, for sentences.
  std::string full_name() const { return varying.empty() ? name : name + " (" + varying + ")"; }
};

/// All rows of one model under one trace, or one name of traces. Rows with the same varying axes
/// are neighbours.
struct TableGroup {
  std::vector<TableRow> rows;             ///< at least one
  std::vector<std::string> varying_axes;  ///< names of RunAxes that tell rows of one design apart

  bool Varies(const std::string& axis) const;
};

/// Which runs stand in one table.
enum class Grouping {
  kTrace,      ///< of one model and trace
  kTraceName,  ///< of one model and source of requests: rates and seeds are rows side by side
};

/// Groups, rows and varying axes in the order of their first appearance. The result points into the
/// file.
std::vector<TableGroup> GroupRuns(const ResultsFile& file);

/// The same for runs of several files.
std::vector<TableGroup> GroupRuns(const std::vector<const RunRecord*>& runs, Grouping grouping);

}  // namespace kvbench
