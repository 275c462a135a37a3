#include "bench/run/trace_of_run.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/quoting.h"

namespace kvbench {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kMostSeconds = 9e9;  // as int64 nanoseconds

RunTrace TraceOf(const RunRecord& run) {
  const RequestSamples& samples = *run.samples.requests;
  RunTrace result;
  Trace& trace = result.trace;
  trace.name = run.trace.name;
  trace.source = run.trace.source;
  // All at once: nothing but zeros.
  trace.has_arrivals = false;
  size_t unknown = 0;
  for (size_t i = 0; i < samples.arrival_s.size(); ++i) {
    if (!(samples.arrival_s[i] >= 0 && samples.arrival_s[i] < kMostSeconds) ||
        samples.input_lens[i] < 1) {
      throw Error(fmt::format("request {} of the run {} has no arrival time or no prompt", i,
                              Quoted(run.label, 400)));
    }
    if (samples.output_lens[i] < 1) {
      ++unknown;
      continue;
    }
    Request request;
    request.arrival_ns = std::llround(samples.arrival_s[i] * kNsPerSecond);
    request.prompt_tokens = samples.input_lens[i];
    request.output_tokens = samples.output_lens[i];
    trace.has_arrivals = trace.has_arrivals || request.arrival_ns > 0;
    trace.requests.push_back(std::move(request));
  }
  result.digest = TraceDigest(trace);
  if (result.digest != run.trace.sha256) {
    result.note =
        unknown > 0
            ? fmt::format(
                  "{} requests are left out: they were rejected or did not finish, and the "
                  "record holds no output length of them",
                  unknown)
            : "the record's digest is another: it holds no prefix ids, and the requests of its "
              "window alone";
  }
  return result;
}

}  // namespace

RunTrace TraceOfRuns(const std::vector<const RunRecord*>& runs) {
  std::set<std::string> digests;
  for (const RunRecord* run : runs) {
    digests.insert(run->trace.sha256);
  }
  if (digests.size() > 1) {
    throw Error(fmt::format(
        "the runs have {} traces: pick one with --only, for example --only rate=... or seed=...",
        digests.size()));
  }
  RunTrace best;
  for (const RunRecord* run : runs) {
    if (!run->samples.requests) {
      continue;
    }
    RunTrace trace = TraceOf(*run);
    if (trace.note.empty()) {
      return trace;
    }
    if (trace.trace.requests.size() > best.trace.requests.size()) {
      best = std::move(trace);
    }
  }
  if (best.trace.requests.empty()) {
    throw Error("no run holds its requests: make the results with kvbench run --detailed");
  }
  return best;
}

}  // namespace kvbench
