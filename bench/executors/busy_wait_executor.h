#pragma once

#include <chrono>
#include <cstdint>

#include "bench/engine/executor.h"

namespace kvbench {

/// A test hook: makes each measured step of an executor longer by a share of itself, with a busy
/// wait, so that a slowdown of a known size can be found again.
class BusyWaitExecutor final : public Executor {
 public:
  /// @param share 0.1: 10 % longer. `executor` must outlive this.
  BusyWaitExecutor(Executor& executor, double share) : executor_(executor), share_(share) {}

  bool needs_entries() const override { return executor_.needs_entries(); }
  void BeginMeasured() override { executor_.BeginMeasured(); }
  void EndMeasured() override { executor_.EndMeasured(); }
  void BeginStep() override { executor_.BeginStep(); }
  StepTimes Run(const StepBatch& batch, const KvCache& cache, int64_t equal_steps) override {
    using Clock = std::chrono::steady_clock;
    StepTimes times = executor_.Run(batch, cache, equal_steps);
    const Clock::time_point begin = Clock::now();
    const auto wait = std::chrono::nanoseconds(
        static_cast<int64_t>(share_ * static_cast<double>(times.first_ps) / 1000));
    Clock::time_point now = begin;
    while (now - begin < wait) {
      now = Clock::now();
    }
    times.first_ps +=
        1000 * std::chrono::duration_cast<std::chrono::nanoseconds>(now - begin).count();
    return times;
  }

 private:
  Executor& executor_;
  double share_;
};

}  // namespace kvbench
