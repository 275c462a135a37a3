#pragma once

#include <cstdint>
#include <functional>

#include "bench/engine/executor.h"
#include "bench/engine/limits.h"
#include "bench/engine/metrics.h"
#include "cache/kv_cache.h"
#include "workloads/request.h"

namespace kvbench {

/// Where a run stands, told after every step.
struct EngineProgress {
  int64_t clock_ps = 0;
  int64_t done = 0;       ///< requests that ended or were rejected
  int64_t generated = 0;  ///< output tokens
  Usage usage;
};

struct EngineOptions {
  MetricsWindow window;
  /// Called after every step; false stops the run. May be empty.
  std::function<bool(const EngineProgress&)> on_step;
};

struct EngineResult {
  Metrics metrics;
  bool stopped = false;  ///< on_step said so: the metrics are those of an unfinished run
};

/// The longest run: int64 picoseconds hold 106 days.
constexpr int64_t kMaxClockPs = int64_t{100} * 24 * 3600 * 1'000'000'000'000;

/// Runs a trace to its end: the clock is the sum of step times and jumps to the next arrival when
/// nothing runs. Throws Error when the clock passes 100 simulated days, and std::logic_error when
/// slots are still taken after the last request has left.
EngineResult RunEngine(const Trace& trace, const EngineLimits& limits, KvCache& cache,
                       Executor& executor, const EngineOptions& options);

}  // namespace kvbench
