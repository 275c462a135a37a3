#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "results/record/record.h"

namespace kvbench {

/// A field as RFC 4180 has it: in quotes where it holds a comma, a quote or a line break.
std::string CsvField(std::string_view text);

/// One line a run behind a heading line. Columns are all keys of a run that hold one value, named
/// as in the record, with dots into its objects ("kv.usage_per_step.live"); null is an empty field.
/// Lists (samples, the timeline, notes) are left out. Numbers are in full.
void WriteRunsCsv(const std::vector<const RunRecord*>& runs, std::ostream& out);

}  // namespace kvbench
