#pragma once

#include <cstdint>
#include <vector>

#include "bench/engine/scheduler.h"

namespace kvbench {

/// Whole batches. When nothing runs, the earliest requests that could all run to their end at once
/// form a batch: as many as the sequence cap, the cache, and longest prompt + longest output <=
/// max_model_len allow. All are computed until the longest output is there, those that ended before
/// as padding; only then the next batch begins. A request is answered with its batch, so its last
/// token arrives with it. The prompts of a batch are one step, whatever max_num_batched_tokens
/// says.
///
/// Padded, it is the Hugging Face pipeline: every prompt is computed, and read by every later step,
/// as long as the longest. Without padding it is FasterTransformer under the vLLM paper's
/// scheduler, which takes up to max_num_seqs of the earliest requests.
class StaticScheduler final : public Scheduler {
 public:
  enum class Padding { kNone, kLongest };

  StaticScheduler(const EngineLimits& limits, KvCache& cache, Padding padding);

  void Schedule(StepBatch& batch, ScheduleOutcome& outcome) override;
  int64_t EqualSteps(const StepBatch&, const ScheduleOutcome&, int64_t) override { return 1; }
  UsageSeries Repeat(int64_t n) override;
  void Advance(const StepBatch& batch, std::vector<SequenceId>& finished) override;
  void ReleaseFinished(const std::vector<SequenceId>& finished) override;

 private:
  void FormBatch(ScheduleOutcome& outcome);
  void AdmitAll(const std::vector<SequenceId>& members);
  void ScheduleStep(StepBatch& batch);

  Padding padding_;
  int64_t steps_ = 0;  // of the running batch so far
  int64_t longest_prompt_ = 0;
  int64_t longest_output_ = 0;
  HeldBackBy closed_by_ = HeldBackBy::kNothing;
};

}  // namespace kvbench
