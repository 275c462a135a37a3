#pragma once

#include <cstdint>
#include <string>

#include "workloads/request.h"

namespace kvbench {

/// A trace by its parameters. The same spec gives the same bytes on every machine.
struct GeneratorSpec {
  std::string lengths;               ///< see LengthDistribution
  std::string arrivals = "poisson";  ///< see ArrivalSpec; not "file"
  double rate = 0.0;     ///< requests/s; infinity: all at once; not needed for all-at-once
  int64_t requests = 0;  ///< at least 1
  int64_t seed = 0;      ///< at least 0
};

/// Draws the trace. Lengths and arrivals come from streams of their own: changing one keeps the
/// other. Throws Error for a spec that says nothing sensible.
Trace MakeTrace(const GeneratorSpec& spec);

}  // namespace kvbench
