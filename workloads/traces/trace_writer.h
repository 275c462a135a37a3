#pragma once

#include <iosfwd>

#include "workloads/traces/request.h"

namespace kvbench {

/// Writes a trace as JSON lines that ReadTrace reads back to the same digest: timestamp in ms with
/// up to 6 decimals (left out for a trace without arrivals), input_length, output_length, and
/// hash_ids where there are any.
void WriteTrace(const Trace& trace, std::ostream& out);

}  // namespace kvbench
