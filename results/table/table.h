#pragma once

#include <string>

#include "results/record/record.h"

namespace kvbench {

/// The table for a terminal: plain ASCII, at most 100 columns, a part for each model and trace with
/// a row for each design, sentences on what the figures mean, and at the end a legend. Repetitions
/// of a label are one row with their medians. Ends with a newline.
std::string RenderTable(const ResultsFile& file);

}  // namespace kvbench
