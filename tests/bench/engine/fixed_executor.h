#pragma once

#include <cstdint>
#include <functional>

#include "bench/engine/executor.h"

namespace kvbench {

/// An executor whose steps take a time given by hand, so that an engine's arithmetic can be checked
/// by hand.
class FixedExecutor final : public Executor {
 public:
  explicit FixedExecutor(int64_t step_ps) : step_ps_(step_ps) {}

  StepTimes Run(const StepBatch& batch, const KvCache& cache, int64_t /*equal_steps*/) override {
    if (observe) {
      observe(batch, cache);
    }
    return {.first_ps = step_ps_};
  }

  std::function<void(const StepBatch&, const KvCache&)> observe;

 private:
  int64_t step_ps_;
};

}  // namespace kvbench
