#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "bench/engine/engine.h"
#include "bench/executors/ranges.h"
#include "bench/run/run_plan.h"
#include "results/record/record.h"

namespace kvbench {

struct RunOnceOptions {
  int64_t repetition = 0;
  int64_t repetitions = 1;
  bool detailed = false;      ///< one value for each request, and exact percentiles
  bool step_by_step = false;  ///< modelled: no equal steps at once
  int64_t until_ps = std::numeric_limits<int64_t>::max();   ///< the run's clock stops there
  std::function<bool(const EngineProgress&)> on_step = {};  ///< false stops the run
  Ranges ranges = {};    ///< measured: what profilers and timelines are told
  double busy_wait = 0;  ///< measured, a test hook: each step takes so much longer (0.1: 10 %)
};

/// Runs one planned run. Nothing when on_step stopped it: half a run says nothing about a design.
/// Modelled runs may go on in several threads at once.
std::optional<RunRecord> RunOnce(const PlannedRun& run, const RunOnceOptions& options);

/// The threads that a measured run takes. Throws Error for more than four a core.
int64_t ResolveThreads(const RunSpec& spec);

}  // namespace kvbench
