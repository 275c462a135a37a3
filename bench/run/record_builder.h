#pragma once

#include <cstdint>
#include <string>

#include "bench/engine/metrics.h"
#include "bench/executors/measured_executor.h"
#include "bench/run/run_plan.h"
#include "cache/kv_cache.h"
#include "results/record/record.h"

namespace kvbench {

/// What a finished run knows about itself.
struct FinishedRun {
  const PlannedRun& run;
  const KvCache& cache;
  Metrics metrics;
  const MeasuredExecutor* measured = nullptr;  ///< of a measured run
  std::string trace_sha256;
  int64_t repetition = 0;
  int64_t repetitions = 1;
  int64_t threads = 0;    ///< of a run on the CPU
  bool detailed = false;  ///< keep one value for each request
};

/// Forms the record from the integers that were counted. All doubles of a record are made here.
RunRecord BuildRecord(const FinishedRun& finished);

}  // namespace kvbench
