#pragma once

#include <string>

#include "results/record/record.h"

namespace kvbench {

/// A plausible measured run: 100 requests, everything consistent, so that the validator finds
/// nothing. `design` is "paged" (block size 16) or a contiguous design.
RunRecord ExampleRun(const std::string& design);

/// Two models, several designs, everything that a record can hold, with a timeline and request
/// samples.
ResultsFile ExampleResults();

/// A run of a trace without requests: nothing ran, nothing is known.
ResultsFile EmptyResults();

/// Compares with tests/results/golden/`name`, which KVBENCH_UPDATE_GOLDEN=1 in the environment
/// rewrites.
void ExpectGolden(const std::string& text, const std::string& name);

}  // namespace kvbench
