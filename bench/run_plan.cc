#include "bench/run_plan.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <tuple>

#include "bench/design_registry.h"
#include "bench/engine/scheduler.h"
#include "workloads/arrivals.h"
#include "workloads/error.h"
#include "workloads/trace_generator.h"
#include "workloads/trace_reader.h"

namespace kvbench {

namespace {

Trace BuildTrace(const RunSpec& spec) {
  if (spec.trace.empty() == spec.lengths.empty()) {
    throw Error(spec.trace.empty()
                    ? "no requests: give --trace FILE, or --lengths SPEC, or a suite such as quick"
                    : "--trace and --lengths exclude each other: requests come from one of them");
  }
  if (!spec.trace.empty()) {
    Trace trace = ReadTrace(spec.trace, {.limit = spec.limit, .columns = spec.columns});
    PutArrivals(trace, spec.arrivals, spec.rate, spec.seed);
    return trace;
  }
  GeneratorSpec generator;
  generator.lengths = spec.lengths;
  generator.arrivals = !spec.arrivals.empty() ? spec.arrivals
                       : spec.rate > 0        ? "poisson"
                                              : "all-at-once";
  generator.rate = spec.rate;
  generator.requests = spec.requests;
  generator.seed = spec.seed;
  return MakeTrace(generator);
}

/// Loads each trace once, however many runs replay it.
class TraceLoader {
 public:
  std::shared_ptr<const LoadedTrace> Load(const RunSpec& s) {
    const Key key(s.trace, s.limit, s.columns, s.lengths, s.arrivals, s.rate, s.requests, s.seed);
    std::shared_ptr<const LoadedTrace>& known = traces_[key];
    if (!known) {
      auto loaded = std::make_shared<LoadedTrace>();
      loaded->trace = BuildTrace(s);
      loaded->digest = TraceDigest(loaded->trace);
      for (const Request& request : loaded->trace.requests) {
        loaded->total_output_tokens += request.output_tokens;
      }
      known = std::move(loaded);
    }
    return known;
  }

 private:
  using Key = std::tuple<std::string, int64_t, std::string, std::string, std::string, double,
                         int64_t, int64_t>;
  std::map<Key, std::shared_ptr<const LoadedTrace>> traces_;
};

/// Throws Error where not one request of the trace could ever run; the scheduler itself says so.
void CheckSomethingFits(const PlannedRun& run) {
  const std::unique_ptr<KvCache> cache = MakeCache(run);
  const std::vector<Request>& requests = run.trace->trace.requests;
  ContinuousScheduler scheduler(run.spec.limits, requests, *cache);
  StepBatch batch;
  ScheduleOutcome outcome;
  std::string reason;
  for (size_t i = 0; i < requests.size(); ++i) {
    scheduler.Enqueue(static_cast<int64_t>(i));
    scheduler.Schedule(batch, outcome);
    if (!batch.entries.empty()) {
      return;
    }
    reason = outcome.rejected.front().reason;
  }
  throw Error(
      fmt::format("{} with {} of KV cache ({} slots) can never run a single one of the {} requests "
                  "(of the last: "
                  "{}): raise --kv-memory or --max-model-len, or use shorter requests",
                  run.spec.design,
                  fmt::format("{:.4g} MiB", static_cast<double>(run.spec.kv_memory) / (1 << 20)),
                  cache->capacity_slots(), requests.size(), reason));
}

}  // namespace

std::unique_ptr<KvCache> MakeCache(const PlannedRun& run) {
  return FindDesign(run.spec.design)
      .make({.slots = run.slots,
             .block_size = run.spec.block_size,
             .max_model_len = run.spec.limits.max_model_len});
}

CpuExecutorConfig ExecutorConfig(const PlannedRun& run) {
  return {.model = run.model,
          .kv_cache_dtype = run.spec.kv_cache_dtype,
          .dtype = run.spec.dtype,
          .dense = run.spec.dense,
          .limits = run.spec.limits};
}

std::vector<PlannedRun> PlanRuns(const std::vector<RunSpec>& specs) {
  std::vector<PlannedRun> runs;
  std::map<std::string, ModelShape> models;
  TraceLoader traces;
  for (const RunSpec& spec : specs) {
    PlannedRun run;
    run.spec = spec;
    if (!models.contains(spec.model)) {
      models[spec.model] = LoadModel(spec.model);
    }
    run.model = models[spec.model];
    run.trace = traces.Load(spec);
    run.kv_bytes_per_token = KvBytesPerToken(run.model, spec.kv_cache_dtype);
    run.slots = spec.kv_memory / run.kv_bytes_per_token;
    if (run.slots > int64_t{1} << 31) {
      throw Error(
          fmt::format("--kv-memory: {} slots of model {} are more than the 2^31 that a cache "
                      "may have",
                      run.slots, run.model.name));
    }
    CheckSomethingFits(run);
    CpuExecutor::Check(ExecutorConfig(run), *MakeCache(run));
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace kvbench
