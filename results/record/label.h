#pragma once

#include <string>
#include <vector>

#include "results/record/record.h"

namespace kvbench {

/// One thing that a run was told to do, under its name on the command line.
struct Axis {
  std::string name;   ///< "block-size"
  std::string value;  ///< "16"; "none" where the axis does not apply
};

/// All axes of a run in a fixed order, whether they vary or not: model, design, dtypes, memory and
/// limits, executor, trace, window. What a machine is called is no axis (labels join runs of two
/// machines); a modelled run's hardware is one. Values hold no spaces.
std::vector<Axis> RunAxes(const RunRecord& run);

/// A design with what tells two of its kind apart: "paged/16", "contiguous-growing/concat".
std::string DesignText(const DesignInfo& design);

/// The axes as `name=value` with a space between two, without the growth where there is none. The
/// same run gives the same label in every invocation; comparisons join on (label, repetition).
std::string MakeLabel(const RunRecord& run);

/// Whether a label has all the parts, each whole: "design=paged" is not in "design=paged-x".
bool HasParts(const std::string& label, const std::vector<std::string>& parts);

}  // namespace kvbench
