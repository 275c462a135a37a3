#pragma once

#include <cstdint>

#include "bench/engine/step_batch.h"
#include "cache/kv_cache.h"

namespace kvbench {

/// How long equal steps take: the first `first_ps`, and each next one `growth_ps` more, because
/// every context is one token longer.
struct StepTimes {
  int64_t first_ps = 0;
  int64_t growth_ps = 0;
  int64_t steps = 1;          ///< for so many the rule holds
  int64_t operations_ps = 0;  ///< of the first step: the cache's operations

  /// From the start of the first step to the start of step `step` (0: the first).
  int64_t Until(int64_t step) const {
    return step * first_ps + growth_ps * (step * (step - 1) / 2);
  }
};

/// Says how long a step took: by running it for real, or by computing it from a hardware
/// description.
class Executor {
 public:
  virtual ~Executor() = default;

  /// Whether batches must list every entry. A model needs the load alone.
  virtual bool needs_entries() const { return true; }

  /// The measured region: the engine calls BeginMeasured once before its first step, when
  /// everything is warm, and EndMeasured once after its last, also when a run is stopped or fails.
  /// Profilers record what lies between. EndMeasured does not throw.
  virtual void BeginMeasured() {}
  virtual void EndMeasured() {}

  /// A step begins: what the engine does from now on (arrivals, scheduling, metrics) is part of its
  /// time where time is measured.
  virtual void BeginStep() {}

  /// Does the cache's operations, then runs the batch on the slots that it gave. `equal_steps` such
  /// steps lie ahead, this one included; one that runs for real runs this one alone and answers
  /// with steps = 1. Times > 0.
  virtual StepTimes Run(const StepBatch& batch, const KvCache& cache, int64_t equal_steps) = 0;
};

}  // namespace kvbench
