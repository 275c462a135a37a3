#include "workloads/traces/arrivals.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/quoting.h"
#include "base/random.h"
#include "workloads/traces/spec_string.h"
#include "workloads/traces/trace_reader.h"

namespace kvbench {
namespace {

constexpr double kMinSpeed = 1e-9;
constexpr double kMaxSpeed = 1e9;

uint64_t CheckedSeed(int64_t seed) {
  if (seed < 0) {
    throw Error(fmt::format("--seed {} is negative; give a whole number from 0", seed));
  }
  return static_cast<uint64_t>(seed);
}

void CheckRate(double rate) {
  if (!(rate > 0.0)) {
    throw Error(
        fmt::format("--rate {} is not positive; give requests per second, such as --rate 4, or "
                    "--arrivals all-at-once",
                    rate));
  }
}

/// A time in gaps of mean 1, at the rate, as whole ns.
int64_t ToNs(double gaps, double rate) {
  const double ns = gaps / rate * 1e9;
  if (!(ns <= static_cast<double>(kMaxArrivalNs))) {
    throw Error(
        fmt::format("at --rate {} the requests would arrive over more than 100 days, where the "
                    "clock ends; raise the rate or ask for fewer requests",
                    rate));
  }
  return static_cast<int64_t>(std::floor(ns + 0.5));
}

}  // namespace

ArrivalSpec ParseArrivals(std::string_view text) {
  SpecString spec(text, "--arrivals");
  ArrivalSpec arrivals;
  if (spec.name() == "poisson") {
    arrivals.kind = ArrivalSpec::Kind::kPoisson;
  } else if (spec.name() == "gamma") {
    arrivals.kind = ArrivalSpec::Kind::kGamma;
    arrivals.cv = spec.TakeNumber("cv", 0.01, 100.0);
  } else if (spec.name() == "constant") {
    arrivals.kind = ArrivalSpec::Kind::kConstant;
  } else if (spec.name() == "all-at-once") {
    arrivals.kind = ArrivalSpec::Kind::kAllAtOnce;
  } else if (spec.name() == "file") {
    arrivals.kind = ArrivalSpec::Kind::kFile;
    arrivals.speed = spec.TakeNumber("speed", kMinSpeed, kMaxSpeed, 1.0);
  } else {
    spec.Fail(
        "there are no such arrivals; choose poisson, gamma:cv=2, constant, all-at-once, file or "
        "file:speed=2");
  }
  spec.Finish();
  return arrivals;
}

ArrivalStream::ArrivalStream(const ArrivalSpec& spec, double rate, int64_t seed)
    : spec_(spec), rate_(rate), random_(CheckedSeed(seed), "arrivals") {
  if (spec.kind == ArrivalSpec::Kind::kFile) {
    throw Error(
        "--arrivals file needs a trace file to take the times from; give --trace FILE, or choose "
        "poisson, gamma:cv=2, constant or all-at-once");
  }
  at_once_ = spec.kind == ArrivalSpec::Kind::kAllAtOnce;
  if (!at_once_) {
    CheckRate(rate);
    at_once_ = rate == std::numeric_limits<double>::infinity();
  }
}

int64_t ArrivalStream::Next() {
  if (at_once_) {
    return 0;
  }
  const double shape = 1.0 / (spec_.cv * spec_.cv);
  switch (spec_.kind) {
    case ArrivalSpec::Kind::kPoisson:
      gaps_ += random_.Exponential();
      break;
    case ArrivalSpec::Kind::kGamma:
      gaps_ += random_.Gamma(shape) / shape;
      break;
    default:
      gaps_ += 1.0;
      break;
  }
  return ToNs(gaps_, rate_);
}

std::vector<int64_t> GenerateArrivals(const ArrivalSpec& spec, double rate, int64_t count,
                                      int64_t seed) {
  if (count < 0) {
    throw Error(fmt::format("--requests {} is negative; give at least 1", count));
  }
  ArrivalStream stream(spec, rate, seed);
  std::vector<int64_t> times(static_cast<size_t>(count));
  for (int64_t& time : times) {
    time = stream.Next();
  }
  return times;
}

void ApplySpeed(Trace& trace, double speed) {
  if (!(speed >= kMinSpeed && speed <= kMaxSpeed)) {
    throw Error(fmt::format("a speed of {} is out of range; give a number from {} to {}", speed,
                            kMinSpeed, kMaxSpeed));
  }
  if (speed == 1.0) {
    return;
  }
  for (Request& request : trace.requests) {
    const double ns = static_cast<double>(request.arrival_ns) / speed;
    if (ns > static_cast<double>(kMaxArrivalNs)) {
      throw Error(
          fmt::format("{}: at speed {} the trace goes on for more than 100 days, where the clock "
                      "ends; replay it faster or fewer requests of it",
                      ShownPath(trace.source), speed));
    }
    request.arrival_ns = static_cast<int64_t>(std::floor(ns + 0.5));
  }
}

void PutArrivals(Trace& trace, std::string_view spec_text, double rate, int64_t seed) {
  const ArrivalSpec spec = spec_text.empty() ? ArrivalSpec{} : ParseArrivals(spec_text);
  if (spec.kind == ArrivalSpec::Kind::kFile) {
    if (!trace.has_arrivals) {
      throw Error(fmt::format(
          "{}: there are lengths but no arrival times; choose them by --arrivals: poisson, "
          "gamma:cv=2 or constant with --rate, or all-at-once",
          ShownPath(trace.source)));
    }
    ApplySpeed(trace, spec.speed);
    if (spec.speed != 1.0) {
      trace.source += fmt::format(", arrivals={}", spec_text);
    }
    return;
  }
  const std::vector<int64_t> times =
      GenerateArrivals(spec, rate, static_cast<int64_t>(trace.requests.size()), seed);
  for (size_t i = 0; i < times.size(); ++i) {
    trace.requests[i].arrival_ns = times[i];
  }
  const bool all_at_once = spec.kind == ArrivalSpec::Kind::kAllAtOnce || std::isinf(rate);
  const bool random =
      spec.kind == ArrivalSpec::Kind::kPoisson || spec.kind == ArrivalSpec::Kind::kGamma;
  trace.has_arrivals = true;
  trace.request_rate = all_at_once ? "inf" : fmt::format("{}", rate);
  trace.source += fmt::format(", arrivals={}", spec_text);
  if (!all_at_once) {
    trace.source += fmt::format(" rate={}", rate);
  }
  if (random && !all_at_once) {
    trace.seed = seed;
    trace.source += fmt::format(" seed={}", seed);
  }
}

}  // namespace kvbench
