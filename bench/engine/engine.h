#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include "bench/engine/executor.h"
#include "bench/engine/limits.h"
#include "bench/engine/metrics.h"
#include "cache/kv_cache.h"
#include "workloads/traces/request_source.h"

namespace kvbench {

/// Where a run stands, told after every step or group of equal steps.
struct EngineProgress {
  int64_t clock_ps = 0;
  int64_t done = 0;       ///< requests that ended or were rejected
  int64_t generated = 0;  ///< output tokens
  Usage usage;
};

struct EngineOptions {
  MetricsOptions metrics;
  /// Every step and in it every sequence by itself, even where several are alike and could be taken
  /// at once. The result is the same in every field.
  bool step_by_step = false;
  /// No step begins at or after it: what is left of the trace is not served.
  int64_t until_ps = std::numeric_limits<int64_t>::max();
  /// Called after every step or group of equal steps; false stops the run. May be empty.
  std::function<bool(const EngineProgress&)> on_step;
};

struct EngineResult {
  Metrics metrics;
  int64_t clock_ps = 0;
  bool stopped = false;  ///< on_step said so: the metrics are those of an unfinished run
};

/// The longest run: int64 picoseconds hold 106 days.
constexpr int64_t kMaxClockPs = int64_t{100} * 24 * 3600 * 1'000'000'000'000;

/// Runs a trace to its end: the clock is the sum of step times and jumps to the next arrival when
/// nothing runs. Throws Error when the clock passes 100 simulated days, and std::logic_error when
/// slots are still taken after the last request has left.
EngineResult RunEngine(RequestSource& source, const EngineLimits& limits, KvCache& cache,
                       Executor& executor, const EngineOptions& options);

}  // namespace kvbench
