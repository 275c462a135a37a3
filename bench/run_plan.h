#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/executors/cpu_executor.h"
#include "bench/run_spec.h"
#include "cache/kv_cache.h"
#include "workloads/model_shape.h"
#include "workloads/request.h"

namespace kvbench {

/// A trace with its digest, shared by all runs that replay it.
struct LoadedTrace {
  Trace trace;
  std::string digest;
  int64_t total_output_tokens = 0;
};

/// A run with everything that it needs loaded.
struct PlannedRun {
  RunSpec spec;
  ModelShape model;
  std::shared_ptr<const LoadedTrace> trace;
  int64_t kv_bytes_per_token = 0;
  int64_t slots = 0;  ///< of the KV budget, before a design cuts them to whole blocks
};

/// Loads models and traces, each once, and checks that every run can be done, so that nothing fails
/// after an hour. Throws Error: for what cannot be read, for a cache that no request of its trace
/// can ever fit, and (kMachine) for what the machine cannot hold.
std::vector<PlannedRun> PlanRuns(const std::vector<RunSpec>& specs);

/// A fresh cache for a run.
std::unique_ptr<KvCache> MakeCache(const PlannedRun& run);

/// The executor's view of a run.
CpuExecutorConfig ExecutorConfig(const PlannedRun& run);

}  // namespace kvbench
