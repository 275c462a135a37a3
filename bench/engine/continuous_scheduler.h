#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "bench/engine/scheduler.h"

namespace kvbench {

/// Continuous batching at iteration level, first come, first served (vLLM, SOSP 2023). Each step:
/// every running sequence, oldest first, gets room for its next tokens, and when there is none the
/// latest arrival is preempted (its slots are given back, its generated tokens kept, and it goes to
/// the head of the queue, to be recomputed). Then the queue is admitted from its head until one
/// does not fit the cache, the token budget or the sequence cap.
///
/// Most steps are alike: everyone decodes one token. Such steps cost the same however many run,
/// because a sequence that decodes is described by numbers that do not change (its lead over the
/// round, and the round in which it ends).
class ContinuousScheduler final : public Scheduler {
 public:
  ContinuousScheduler(const EngineLimits& limits, KvCache& cache);

  void Schedule(StepBatch& batch, ScheduleOutcome& outcome) override;
  int64_t EqualSteps(const StepBatch& batch, const ScheduleOutcome& outcome,
                     int64_t limit) override;
  UsageSeries Repeat(int64_t n) override;
  void Advance(const StepBatch& batch, std::vector<SequenceId>& finished) override;
  void ReleaseFinished(const std::vector<SequenceId>& finished) override;

 private:
  /// The round after which a sequence has all its output tokens.
  struct End {
    int64_t round = 0;
    SequenceId id = 0;
    uint32_t term = 0;  // of the sequence when this was written; another one: out of date
    bool operator>(const End& other) const { return round > other.round; }
  };

  bool ScheduleInStep(StepBatch& batch, ScheduleOutcome& outcome);
  bool ScheduleOneByOne(StepBatch& batch, ScheduleOutcome& outcome);
  void AdmitWaiting(int64_t budget, StepBatch& batch, ScheduleOutcome& outcome);
  StepEntry NextPart(SequenceId id, int64_t budget) const;
  void PreemptLast(ScheduleOutcome& outcome);

  void StartDecoding(SequenceId id);
  void StopDecoding(Sequence& s);
  void DropOldEnds();

  bool whole_prompts_;  // a prompt is computed in one step or not at all
  int64_t round_ = 0;   // steps so far
  int64_t decoding_ = 0;
  int64_t decoding_base_ = 0;  // sum over those who decode: known tokens less round_
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace kvbench
