#include "workloads/trace_generator.h"

#include <fmt/format.h>

#include "workloads/arrivals.h"
#include "workloads/error.h"
#include "workloads/lengths.h"
#include "workloads/random.h"

namespace kvbench {

Trace MakeTrace(const GeneratorSpec& spec) {
  constexpr int64_t kMostRequests = 100'000'000;
  if (spec.requests < 1 || spec.requests > kMostRequests) {
    throw Error(
        fmt::format("--requests {} is not a number from 1 to {}", spec.requests, kMostRequests));
  }
  if (spec.seed < 0) {
    throw Error(fmt::format("--seed {} is negative; give a whole number from 0", spec.seed));
  }
  const LengthDistribution lengths(spec.lengths);
  Trace trace;
  trace.has_arrivals = false;
  trace.requests.resize(static_cast<size_t>(spec.requests));
  RandomStream random(static_cast<uint64_t>(spec.seed), "lengths");
  for (Request& request : trace.requests) {
    const LengthPair pair = lengths.Draw(random);
    request.prompt_tokens = pair.prompt;
    request.output_tokens = pair.output;
  }
  trace.source = "the generated trace";
  PutArrivals(trace, spec.arrivals, spec.rate, spec.seed);
  trace.seed = spec.seed;
  trace.name = spec.lengths;
  const std::string rate =
      trace.request_rate == "inf" ? "" : fmt::format(" rate={}", trace.request_rate);
  trace.source = fmt::format("generated: lengths={} arrivals={}{} requests={} seed={}",
                             spec.lengths, spec.arrivals, rate, spec.requests, spec.seed);
  return trace;
}

}  // namespace kvbench
