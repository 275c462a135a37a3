#pragma once

#include <nlohmann/json_fwd.hpp>

#include "results/record/record.h"

namespace kvbench {

/// A run under the keys that `vllm bench serve --save-result` writes, in its order and units
/// (statistics in ms, lists in seconds), so that scripts made for that read ours. What a record
/// does not hold is null; docs/report.md names it. Lists are there where the run has its requests
/// (--detailed); a request that was rejected or did not finish has zeros and a text in `errors`, as
/// there. Keys of ours stand behind them as `kvbench_...`, like --metadata.
nlohmann::ordered_json VllmJson(const ResultsFile& file, const RunRecord& run);

}  // namespace kvbench
