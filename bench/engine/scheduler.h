#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "bench/engine/limits.h"
#include "bench/engine/step_batch.h"
#include "cache/kv_cache.h"
#include "workloads/request.h"

namespace kvbench {

/// A sequence that has been admitted at least once.
struct SequenceState {
  int64_t request = 0;  ///< index into the trace
  SequenceId id = -1;   ///< its number in the cache; -1 while it waits
  int64_t prompt = 0;
  int64_t output = 0;
  int64_t generated = 0;  ///< output tokens so far; a preempted sequence keeps them
  int64_t computed = 0;   ///< tokens whose K and V are in the cache
  int64_t held = 0;       ///< tokens that have a slot: those computed and the newest one
  int64_t computed_before =
      0;  ///< the same when it was last preempted: computing those again is a recompute

  int64_t known_tokens() const { return prompt + generated; }
  int64_t final_length() const { return prompt + output; }
};

/// Why the head of the queue did not get in at the last step.
enum class HeldBackBy { kNothing, kMemory, kSequences, kTokens };

/// A request that can never run, and why.
struct Rejection {
  int64_t request = 0;
  std::string reason;
};

/// What Schedule decided, apart from the batch.
struct ScheduleOutcome {
  HeldBackBy bound_by = HeldBackBy::kNothing;
  int64_t recomputed_tokens = 0;  ///< tokens of the batch whose K and V had been computed before
  std::vector<int64_t> admitted;  ///< requests that got in, preempted ones again
  std::vector<int64_t> preempted;
  std::vector<Rejection> rejected;

  void clear() {
    bound_by = HeldBackBy::kNothing;
    recomputed_tokens = 0;
    admitted.clear();
    preempted.clear();
    rejected.clear();
  }
};

/// Continuous batching at iteration level, first come, first served (vLLM, SOSP 2023). Each step:
/// every running sequence, oldest first, gets room for its next tokens, and when there is none the
/// latest arrival is preempted (its slots are given back, its generated tokens kept, and it goes to
/// the head of the queue, to be recomputed). Then the queue is admitted from its head until one
/// does not fit the cache, the token budget or the sequence cap.
class ContinuousScheduler {
 public:
  /// `trace` and `cache` must outlive the scheduler.
  ContinuousScheduler(const EngineLimits& limits, std::span<const Request> trace, KvCache& cache);

  /// A request has arrived. Requests come in arrival order.
  void Enqueue(int64_t request);

  /// Fills the batch of the next step. It is empty only when nothing is queued or running.
  void Schedule(StepBatch& batch, ScheduleOutcome& outcome);

  /// The batch has run: its sequences gained their tokens. Appends the requests that ended to
  /// `finished`; their slots stay taken until ReleaseFinished, so that usage can be sampled at
  /// their full length.
  void Advance(const StepBatch& batch, std::vector<int64_t>& finished);
  void ReleaseFinished();

  int64_t num_running() const { return static_cast<int64_t>(running_.size()); }
  int64_t num_waiting() const { return static_cast<int64_t>(waiting_.size()); }

 private:
  void ScheduleRunning(StepBatch& batch, ScheduleOutcome& outcome);
  void AdmitWaiting(StepBatch& batch, ScheduleOutcome& outcome);
  void PreemptLast(ScheduleOutcome& outcome);
  std::string WhyNever(const SequenceState& sequence) const;
  int64_t BudgetLeft(const StepBatch& batch) const;

  EngineLimits limits_;
  std::span<const Request> trace_;
  KvCache& cache_;
  std::deque<SequenceState> waiting_;   // arrival order, preempted ones at the head
  std::vector<SequenceState> running_;  // arrival order
  std::vector<SequenceId> free_ids_;    // last given back is taken first
  SequenceId next_id_ = 0;
};

}  // namespace kvbench
