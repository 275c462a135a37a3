#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/int128.h"
#include "bench/engine/executor.h"
#include "bench/engine/latency.h"
#include "bench/engine/scheduler.h"
#include "bench/engine/sequence.h"
#include "bench/engine/step_batch.h"
#include "cache/operation.h"
#include "cache/usage.h"

namespace kvbench {

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
  /// The next time after time_ps at which inside and outside change places.
  int64_t NextEdge(int64_t time_ps) const {
    return time_ps < from_ps ? from_ps
           : time_ps < to_ps ? to_ps
                             : std::numeric_limits<int64_t>::max();
  }
};

/// Latencies that a request must not exceed to count for the goodput, in picoseconds.
struct Slo {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  int64_t ttft_ps = kNone;
  int64_t tpot_ps = kNone;
  int64_t e2el_ps = kNone;

  bool any() const { return ttft_ps != kNone || tpot_ps != kNone || e2el_ps != kNone; }
};

struct MetricsOptions {
  MetricsWindow window;
  Slo slo;
  bool exact_percentiles = true;  ///< keep every latency; false: histograms
  bool keep_requests = false;     ///< one row for each request
  /// Output tokens of the run, 0: unknown. With exact percentiles there is room for that many times
  /// between tokens (4 Mi at most), so that steps allocate no memory.
  int64_t expected_tokens = 0;
};

/// One request's row, on --detailed.
struct RequestRow {
  int64_t index = 0;  ///< in the trace
  int64_t prompt_tokens = 0;
  int64_t output_tokens = 0;
  RequestOutcome outcome;
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

/// What a design had done to bytes.
struct OperationSums {
  int64_t operations = 0;
  int64_t tokens = 0;  ///< copied, each over all layers
  Int128 time_ps = 0;
};

/// Requests inside the window that ended.
struct RequestSums {
  int64_t completed = 0;
  int64_t rejected = 0;
  int64_t met_slo = 0;
  int64_t input_tokens = 0;   ///< of the completed
  int64_t output_tokens = 0;  ///< of the completed
  Int128 normalized_ps = 0;   ///< sum of end-to-end latency / output tokens, each rounded down
  int64_t first_arrival_ps = -1;
  int64_t last_completion_ps = -1;
};

/// Everything that is counted while an engine runs: integers only, doubles are formed when the
/// record is written. k equal steps are counted in closed form and give what k single ones give.
class Metrics {
 public:
  /// At most this many timeline samples are kept; every 2^k-th step is one.
  static constexpr size_t kMaxTimeline = 1000;

  explicit Metrics(const MetricsOptions& options);

  void OnArrival(int64_t index, int64_t arrival_ps);

  /// A step began at `start_ps` and took `duration_ps`; `usage` is the cache's after it. The
  /// batch's sequences have not been advanced yet.
  void OnStep(int64_t start_ps, int64_t duration_ps, const StepBatch& batch,
              const ScheduleOutcome& outcome, Scheduler& scheduler, const Usage& usage);

  /// n more steps like the last one: the first began at `start_ps`, took times.first_ps, and each
  /// next one growth_ps more. Precondition: n < StepsToSample(), all on one side of the window.
  void OnEqualSteps(int64_t start_ps, const StepTimes& times, int64_t n, const StepBatch& batch,
                    const ScheduleOutcome& outcome, const Scheduler& scheduler,
                    const UsageSeries& series, const Usage& last);

  /// Steps from the coming one on until one is sampled for the timeline, that one not counted.
  int64_t StepsToSample() const {
    const int64_t past = total_steps_ % timeline_stride_;
    return past == 0 ? 0 : timeline_stride_ - past;
  }

  /// What the cache had the executor do before the step, and how long it took of it.
  void OnOperations(std::span<const Operation> operations, int64_t duration_ps);

  void OnFinished(Sequence& sequence, int64_t time_ps);

  const MetricsOptions& options() const { return options_; }
  const MetricsWindow& window() const { return options_.window; }
  const RequestSums& requests() const { return requests_; }
  const LatencySamples& ttft() const { return ttft_; }
  const LatencySamples& tpot() const { return tpot_; }
  const LatencySamples& itl() const { return itl_; }
  const LatencySamples& e2el() const { return e2el_; }
  const LatencySamples& queue() const { return queue_; }
  const StepSums& all() const { return all_; }
  const StepSums& while_waiting() const { return while_waiting_; }
  const UsageSums& usage_per_step() const { return usage_per_step_; }
  const UsageSums& usage_over_time() const { return usage_over_time_; }
  const std::array<int64_t, 4>& bound_by() const { return bound_by_; }  ///< steps, by HeldBackBy
  const std::vector<TimelineSample>& timeline() const { return timeline_; }
  /// Reason -> requests.
  const std::map<std::string, int64_t>& rejected() const { return rejected_; }
  /// First and last index of each run of requests outside the window.
  const std::vector<std::pair<int64_t, int64_t>>& excluded() const { return excluded_; }
  /// In the order in which they ended; empty without keep_requests.
  const std::vector<RequestRow>& rows() const { return rows_; }

  int64_t total_steps() const { return total_steps_; }  ///< window or not
  int64_t arrived() const { return arrived_; }
  int64_t finished() const { return finished_; }
  int64_t preemptions() const { return preemptions_; }
  int64_t recomputed_tokens() const { return recomputed_tokens_; }
  const OperationSums& operations() const { return operations_; }  ///< window or not
  int64_t peak_running() const { return peak_running_; }
  int64_t peak_live_slots() const { return peak_live_slots_; }
  int64_t peak_allocated_slots() const { return peak_allocated_slots_; }

 private:
  void CountOutcome(int64_t start_ps, const ScheduleOutcome& outcome, Scheduler& scheduler);
  void CountTokens(int64_t start_ps, int64_t duration_ps, const StepBatch& batch,
                   Scheduler& scheduler);
  void CountToken(Sequence& sequence, int64_t start_ps, int64_t end_ps);
  void LeaveStep(Sequence& sequence, int64_t time_ps);
  void AddToTimeline(const TimelineSample& sample);

  MetricsOptions options_;
  RequestSums requests_;
  LatencySamples ttft_;
  LatencySamples tpot_;
  LatencySamples itl_;
  LatencySamples e2el_;
  LatencySamples queue_;
  std::vector<RequestRow> rows_;
  std::vector<std::pair<int64_t, int64_t>> excluded_;
  // Sequences in step generated in the last step; those of them that arrived inside the window.
  int64_t in_step_inside_ = 0;
  bool all_in_step_ = true;  // of those who run

  StepSums all_;
  StepSums while_waiting_;
  UsageSums usage_per_step_;
  UsageSums usage_over_time_;
  std::array<int64_t, 4> bound_by_{};
  std::vector<TimelineSample> timeline_;
  int64_t timeline_stride_ = 1;
  std::map<std::string, int64_t> rejected_;
  int64_t total_steps_ = 0;
  int64_t arrived_ = 0;
  int64_t finished_ = 0;
  int64_t preemptions_ = 0;
  int64_t recomputed_tokens_ = 0;
  OperationSums operations_;
  int64_t peak_running_ = 0;
  int64_t peak_live_slots_ = 0;
  int64_t peak_allocated_slots_ = 0;
};

}  // namespace kvbench
