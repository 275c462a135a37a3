#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/engine/scheduler.h"
#include "bench/engine/step_batch.h"
#include "cache/usage.h"
#include "workloads/request.h"

namespace kvbench {

__extension__ using Int128 = __int128;

/// The five parts of the usage, summed with a weight: exact, whatever the number of steps.
struct UsageSums {
  Int128 live = 0;
  Int128 reserved = 0;
  Int128 overestimate = 0;
  Int128 rounding = 0;
  Int128 free = 0;

  void Add(const Usage& usage, int64_t weight);
};

/// Requests that arrive, and steps that begin, in [from_ps, to_ps) of the run's clock: everything
/// else is left out of means and percentiles.
struct MetricsWindow {
  int64_t from_ps = 0;
  int64_t to_ps = std::numeric_limits<int64_t>::max();

  bool Contains(int64_t time_ps) const { return time_ps >= from_ps && time_ps < to_ps; }
};

/// What happened to one request. Times in picoseconds of the run's clock, -1: never.
struct RequestOutcome {
  int64_t admitted_ps = -1;  ///< start of the step that first computed something of it
  int64_t first_token_ps = -1;
  int64_t last_token_ps = -1;  ///< the newest token so far
  int64_t finished_ps = -1;
  int32_t preemptions = 0;
  bool rejected = false;
};

/// The engine after one step.
struct TimelineSample {
  int64_t time_ps = 0;
  int64_t running = 0;
  int64_t waiting = 0;
  Usage usage;
};

/// Sums over the steps of a run, or over those of them that left requests waiting.
struct StepSums {
  int64_t steps = 0;
  Int128 time_ps = 0;
  Int128 running = 0;
  Int128 waiting = 0;
  Int128 generated = 0;
};

/// Everything that is counted while an engine runs: integers only, doubles are formed when the
/// record is written.
class Metrics {
 public:
  /// At most this many timeline samples are kept; every 2^k-th step is one.
  static constexpr size_t kMaxTimeline = 1000;

  Metrics(std::span<const Request> trace, const MetricsWindow& window);

  /// A step began at `start_ps` and took `duration_ps`; `usage` is the cache's after it.
  void OnStep(int64_t start_ps, int64_t duration_ps, const StepBatch& batch,
              const ScheduleOutcome& outcome, int64_t running, int64_t waiting, const Usage& usage);
  void OnFinished(int64_t request, int64_t time_ps);

  std::span<const RequestOutcome> outcomes() const {
    return outcomes_;
  }  ///< [requests of the trace]
  const std::vector<int64_t>& itl_ps() const {
    return itl_ps_;
  }  ///< gaps between tokens of a request
  const StepSums& all() const { return all_; }
  const StepSums& while_waiting() const { return while_waiting_; }
  const UsageSums& usage_per_step() const { return usage_per_step_; }
  const UsageSums& usage_over_time() const { return usage_over_time_; }
  const std::array<int64_t, 4>& bound_by() const { return bound_by_; }  ///< steps, by HeldBackBy
  const std::vector<TimelineSample>& timeline() const { return timeline_; }
  const std::map<std::string, int64_t>& rejected() const {
    return rejected_;
  }  ///< reason -> requests
  const MetricsWindow& window() const { return window_; }

  int64_t total_steps() const { return total_steps_; }  ///< window or not
  int64_t finished() const { return finished_; }
  int64_t preemptions() const { return preemptions_; }
  int64_t recomputed_tokens() const { return recomputed_tokens_; }
  int64_t peak_running() const { return peak_running_; }
  int64_t peak_live_slots() const { return peak_live_slots_; }
  int64_t peak_allocated_slots() const { return peak_allocated_slots_; }

  int64_t ArrivalPs(int64_t request) const {
    return trace_[static_cast<size_t>(request)].arrival_ns * 1000;
  }

 private:
  void AddTokens(int64_t end_ps, const StepBatch& batch);
  void AddToTimeline(const TimelineSample& sample);

  std::span<const Request> trace_;
  MetricsWindow window_;
  std::vector<RequestOutcome> outcomes_;
  std::vector<int64_t> itl_ps_;
  StepSums all_;
  StepSums while_waiting_;
  UsageSums usage_per_step_;
  UsageSums usage_over_time_;
  std::array<int64_t, 4> bound_by_{};
  std::vector<TimelineSample> timeline_;
  int64_t timeline_stride_ = 1;
  std::map<std::string, int64_t> rejected_;
  int64_t total_steps_ = 0;
  int64_t finished_ = 0;
  int64_t preemptions_ = 0;
  int64_t recomputed_tokens_ = 0;
  int64_t peak_running_ = 0;
  int64_t peak_live_slots_ = 0;
  int64_t peak_allocated_slots_ = 0;
};

}  // namespace kvbench
