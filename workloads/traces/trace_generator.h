#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "workloads/traces/arrivals.h"
#include "workloads/traces/lengths.h"
#include "workloads/traces/request.h"
#include "workloads/traces/request_source.h"

namespace kvbench {

/// A trace by its parameters. The same spec gives the same bytes on every machine.
struct GeneratorSpec {
  std::string lengths;               ///< see LengthDistribution
  std::string arrivals = "poisson";  ///< see ArrivalSpec; not "file"
  double rate = 0.0;        ///< requests/s; infinity: all at once; not needed for all-at-once
  int64_t requests = 0;     ///< at least 1; with a duration at most that many
  int64_t seed = 0;         ///< at least 0
  int64_t duration_ns = 0;  ///< requests that arrive before it, 0: `requests` of them
};

/// Draws the requests one by one: the same as MakeTrace gives.
class GeneratedSource final : public RequestSource {
 public:
  /// Throws Error for a spec that says nothing sensible.
  explicit GeneratedSource(const GeneratorSpec& spec);

  bool Next(Request& request) override;

 private:
  LengthDistribution lengths_;
  RandomStream random_;
  ArrivalStream arrivals_;
  int64_t left_;
  int64_t duration_ns_;
};

/// What MakeTrace would give, without its requests: name, source, rate and seed.
Trace DescribeGenerated(const GeneratorSpec& spec);

/// Draws the trace. Lengths and arrivals come from streams of their own: changing one keeps the
/// other. Throws Error for a spec that says nothing sensible.
Trace MakeTrace(const GeneratorSpec& spec);

}  // namespace kvbench
