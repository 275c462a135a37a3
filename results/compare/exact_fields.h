#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "results/compare/compared_file.h"

namespace kvbench {

/// How a run of a results file is compared: by its executor, hardware and arrivals. The run has
/// the keys `executor`, `trace` and `window`.
RunKind KindOf(const nlohmann::json& run);

/// Whether a field must be equal in two runs of that kind. `path` is its place in the run:
/// "kv.usage_over_time.live".
bool MustBeEqual(RunKind kind, std::string_view path);

/// Whether a key of a run is one of its timings: a latency, a throughput, the duration.
bool IsTiming(std::string_view key);

}  // namespace kvbench
