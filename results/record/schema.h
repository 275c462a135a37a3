#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kvbench {

/// The JSON Schema of a results file as the description has it, as text:
/// results/schema/results.schema.json. Each field has its unit and meaning there.
std::string ResultsSchema();

}  // namespace kvbench
