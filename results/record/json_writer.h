#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "results/record/record.h"

namespace kvbench {

/// Writes a results file as JSON, valid against results/schema/results.schema.json, in the order of
/// record.h. Every key is there; what is unknown, NaN or infinite is null. One run is in memory as
/// JSON at a time, so that large files can be streamed. The stream's state tells whether writing
/// worked: the caller checks it.
void WriteResults(const ResultsFile& file, std::ostream& out);

/// One run, an element of `runs`.
nlohmann::ordered_json RunJson(const RunRecord& run);

/// The `model` object of a run, for other JSON that describes a model.
nlohmann::ordered_json ModelJson(const ModelInfo& model);

/// A results file as a string.
std::string ResultsJson(const ResultsFile& file);

}  // namespace kvbench
