#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/record/field.h"
#include "results/record/record.h"

namespace kvbench {

/// The fields of a run that a row shows, in the table's order.
const std::vector<RecordField>& TableFields();

/// The median of what the runs have of a field, as it is shown; nothing where none has it.
std::optional<double> MedianShown(const std::vector<const RunRecord*>& runs,
                                  const RecordField& field);

/// One line of the table: all repetitions of one label. Figures are medians over them.
struct TableRow {
  std::vector<const RunRecord*> repetitions;  ///< at least one, in file order
  std::string name;                           ///< "paged/16", "contiguous-max"
  std::string
      varying;  ///< axes besides the design that vary in the group: "max-num-seqs=256"; often empty

  std::vector<std::optional<double>> figures;  ///< of TableFields, as they are shown

  /// The figure of a path in TableFields.
  const std::optional<double>& Figure(std::string_view path) const;
  const std::optional<double>& output() const { return Figure("output_throughput"); }
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
