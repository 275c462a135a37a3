#include "workloads/traces/trace_generator.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace kvbench {

namespace {

const GeneratorSpec& Checked(const GeneratorSpec& spec) {
  constexpr int64_t kMostRequests = 100'000'000;
  if (spec.requests < 1 || spec.requests > kMostRequests) {
    throw Error(
        fmt::format("--requests {} is not a number from 1 to {}", spec.requests, kMostRequests));
  }
  if (spec.duration_ns > 0 && (spec.arrivals == "all-at-once" || std::isinf(spec.rate))) {
    throw Error("--duration needs arrivals that go on: give --rate, or --requests instead");
  }
  if (spec.seed < 0) {
    throw Error(fmt::format("--seed {} is negative; give a whole number from 0", spec.seed));
  }
  return spec;
}

}  // namespace

GeneratedSource::GeneratedSource(const GeneratorSpec& spec)
    : lengths_(Checked(spec).lengths),
      random_(static_cast<uint64_t>(spec.seed), "lengths"),
      arrivals_(ParseArrivals(spec.arrivals), spec.rate, spec.seed),
      left_(spec.requests),
      duration_ns_(spec.duration_ns) {}

bool GeneratedSource::Next(Request& request) {
  if (left_ == 0) {
    return false;
  }
  --left_;
  const LengthPair pair = lengths_.Draw(random_);
  request.arrival_ns = arrivals_.Next();
  if (duration_ns_ > 0 && request.arrival_ns >= duration_ns_) {
    left_ = 0;
    return false;
  }
  request.prompt_tokens = pair.prompt;
  request.output_tokens = pair.output;
  request.prefix_ids.clear();
  return true;
}

Trace DescribeGenerated(const GeneratorSpec& spec) {
  Trace trace;
  const bool all_at_once =
      ParseArrivals(spec.arrivals).kind == ArrivalSpec::Kind::kAllAtOnce || std::isinf(spec.rate);
  trace.name = spec.lengths;
  trace.seed = spec.seed;
  trace.request_rate = all_at_once ? "inf" : fmt::format("{}", spec.rate);
  const std::string how_many =
      spec.duration_ns > 0
          ? fmt::format("duration={}s", static_cast<double>(spec.duration_ns) / 1e9)
          : fmt::format("requests={}", spec.requests);
  trace.source =
      fmt::format("generated: lengths={} arrivals={}{} {} seed={}", spec.lengths, spec.arrivals,
                  all_at_once ? "" : fmt::format(" rate={}", spec.rate), how_many, spec.seed);
  return trace;
}

Trace MakeTrace(const GeneratorSpec& spec) {
  GeneratedSource source(spec);
  Trace trace = DescribeGenerated(spec);
  for (Request request; source.Next(request);) {
    trace.requests.push_back(request);
  }
  return trace;
}

}  // namespace kvbench
