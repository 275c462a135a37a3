#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/paper/row.h"
#include "bench/paper/runner.h"

namespace kvbench {

/// Every row of the sections, and of every suite that ran the means over seeds of its records, runs
/// that differ in nothing but their seed together. "format" is "kvbench paper 1".
nlohmann::ordered_json PaperJson(const std::vector<PaperSection>& sections,
                                 const PaperRunner& runner, const std::string& command_line);

}  // namespace kvbench
