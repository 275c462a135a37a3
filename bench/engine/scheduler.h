#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/engine/limits.h"
#include "bench/engine/sequence.h"
#include "bench/engine/step_batch.h"
#include "cache/kv_cache.h"

namespace kvbench {

/// Why the head of the queue did not get in at the last step.
enum class HeldBackBy { kNothing, kMemory, kSequences, kTokens };

/// A request that can never run, and why.
struct Rejection {
  int64_t index = 0;  ///< of the request in the trace
  Request request;
  std::string reason;
};

/// What Schedule decided, apart from the batch.
struct ScheduleOutcome {
  HeldBackBy bound_by = HeldBackBy::kNothing;
  int64_t recomputed_tokens = 0;     ///< tokens of the batch whose K and V had been computed before
  std::vector<SequenceId> admitted;  ///< those that got in, preempted ones again
  std::vector<SequenceId> preempted;
  std::vector<Rejection> rejected;

  void clear() {
    bound_by = HeldBackBy::kNothing;
    recomputed_tokens = 0;
    admitted.clear();
    preempted.clear();
    rejected.clear();
  }
};

/// Picks what runs in the next step. This is the part that all schedulers share: the queue and the
/// sequences that have been admitted.
class Scheduler {
 public:
  /// `cache` must outlive the scheduler.
  Scheduler(const EngineLimits& limits, KvCache& cache) : limits_(limits), cache_(cache) {}
  virtual ~Scheduler() = default;

  /// Whether batches list those in step, which only an executor that runs them needs.
  void set_lists_in_step(bool lists) { lists_in_step_ = lists; }

  /// Whether every sequence of every step is looked at by itself, the slow and obvious way. It
  /// gives the same steps.
  void set_one_by_one(bool one_by_one) { one_by_one_ = one_by_one; }

  /// A request has arrived. Requests come in arrival order.
  void Enqueue(Arrival&& arrival) { arrived_.push_back(std::move(arrival)); }

  /// Fills the batch of the next step. It is empty only when nothing is queued or running.
  virtual void Schedule(StepBatch& batch, ScheduleOutcome& outcome) = 0;

  /// After Schedule: how many steps like this one lie ahead, itself included, unless a request
  /// arrives. At least 1, at most `limit`.
  virtual int64_t EqualSteps(const StepBatch& batch, const ScheduleOutcome& outcome,
                             int64_t limit) = 0;

  /// The scheduled step and n - 1 like it have run, and Advance will end the one after them.
  /// Precondition: n < EqualSteps.
  virtual UsageSeries Repeat(int64_t n) = 0;

  /// The batch has run: its sequences gained their tokens. Appends the sequences that ended to
  /// `finished`, oldest first; their slots stay taken until ReleaseFinished, so that usage can be
  /// sampled at their full length.
  virtual void Advance(const StepBatch& batch, std::vector<SequenceId>& finished) = 0;
  virtual void ReleaseFinished(const std::vector<SequenceId>& finished) = 0;

  int64_t num_running() const { return static_cast<int64_t>(running_.size()); }
  int64_t num_waiting() const { return static_cast<int64_t>(arrived_.size() + preempted_.size()); }
  Sequence& sequence(SequenceId id) { return sequences_[static_cast<size_t>(id)]; }
  const Sequence& sequence(SequenceId id) const { return sequences_[static_cast<size_t>(id)]; }
  /// Admitted and not ended, oldest arrival first.
  const std::vector<SequenceId>& running() const { return running_; }

 protected:
  /// The head of the queue: preempted sequences, oldest first, stand before arrivals.
  struct Head {
    SequenceId id = 0;  ///< its own, or the one that a new sequence would get
    bool is_new = false;
    int64_t known_tokens = 0;
    int64_t final_length = 0;
    int64_t output_tokens = 0;
    std::span<const int64_t> prefix_ids;
  };
  /// Precondition: num_waiting() > 0.
  Head PeekHead() const;
  /// The head runs from now on: last in running().
  Sequence& AdmitHead(const Head& head);
  void RejectHead(const Head& head, std::string reason, ScheduleOutcome& outcome);
  /// Takes the latest arrival off running() and puts it at the head of the queue; the caller has
  /// given its slots back.
  void RequeueLast(ScheduleOutcome& outcome);
  /// Takes a sequence off running(); its id may be given again.
  void Retire(SequenceId id);

  /// Why a request can never run, whatever the cache says; empty: it can. With `whole_prompts` all
  /// its tokens must fit into one step, since a recompute may replay all but the last.
  std::string WhyNever(int64_t final_length, bool whole_prompts) const;

  EngineLimits limits_;
  KvCache& cache_;
  bool lists_in_step_ = true;
  bool one_by_one_ = false;

 private:
  std::deque<Arrival> arrived_;
  std::vector<SequenceId> preempted_;  // the last is the oldest and the head of the queue
  std::vector<SequenceId> running_;    // by index of their requests
  std::vector<Sequence> sequences_;    // by SequenceId
  std::vector<SequenceId> free_ids_;   // last given back is taken first
};

/// The scheduler that the limits name. `cache` must outlive it.
std::unique_ptr<Scheduler> MakeScheduler(const EngineLimits& limits, KvCache& cache);

}  // namespace kvbench
