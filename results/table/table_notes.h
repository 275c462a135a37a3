#pragma once

#include <string>
#include <vector>

#include "results/table/table_rows.h"

namespace kvbench {

/// What a reader has to know about a group's figures, a sentence each: what the best design gained,
/// where memory did not bind, verification, rejected and failed requests, what the means leave out,
/// the runs' own notes.
std::vector<std::string> GroupNotes(const TableGroup& group);

}  // namespace kvbench
