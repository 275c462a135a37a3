#pragma once

#include <cstdint>

#include "bench/engine/step_batch.h"
#include "cache/kv_cache.h"

namespace kvbench {

/// Says how long a step took: by running it for real, or by computing it from a hardware
/// description.
class Executor {
 public:
  virtual ~Executor() = default;

  /// A step begins: what the engine does from now on (arrivals, scheduling, metrics) is part of its
  /// time where time is measured.
  virtual void BeginStep() {}

  /// Runs the batch on the slots that the cache gave. Returns the step's time in picoseconds, > 0.
  virtual int64_t Run(const StepBatch& batch, const KvCache& cache) = 0;
};

}  // namespace kvbench
