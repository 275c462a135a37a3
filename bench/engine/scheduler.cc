#include "bench/engine/scheduler.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <stdexcept>

namespace kvbench {

namespace {

/// The part of a sequence that a step with `budget` tokens left computes next.
StepEntry NextPart(const SequenceState& s, int64_t budget) {
  const int64_t missing = s.known_tokens() - s.computed;
  const int64_t count = std::min(missing, budget);
  return {.sequence = s.id,
          .request = s.request,
          .first_position = s.computed,
          .count = count,
          .generates = count == missing};
}

/// Slots that the sequence holds once the entry has run, the generated token's included.
int64_t HeldAfter(const StepEntry& entry) { return entry.context() + (entry.generates ? 1 : 0); }

int64_t Recomputed(const SequenceState& s, const StepEntry& entry) {
  return std::clamp(s.computed_before - entry.first_position, int64_t{0}, entry.count);
}

}  // namespace

ContinuousScheduler::ContinuousScheduler(const EngineLimits& limits, std::span<const Request> trace,
                                         KvCache& cache)
    : limits_(limits), trace_(trace), cache_(cache) {}

void ContinuousScheduler::Enqueue(int64_t request) {
  const Request& r = trace_[static_cast<size_t>(request)];
  SequenceState sequence;
  sequence.request = request;
  sequence.prompt = r.prompt_tokens;
  sequence.output = r.output_tokens;
  waiting_.push_back(sequence);
}

void ContinuousScheduler::Schedule(StepBatch& batch, ScheduleOutcome& outcome) {
  batch.clear();
  outcome.clear();
  ScheduleRunning(batch, outcome);
  AdmitWaiting(batch, outcome);
  if (batch.entries.empty() && !waiting_.empty()) {
    // An empty cache takes whatever can fit at all, so this is a defect and would otherwise be an
    // endless loop.
    throw std::logic_error("the scheduler is stuck: nothing runs and the head of the queue waits");
  }
}

void ContinuousScheduler::ScheduleRunning(StepBatch& batch, ScheduleOutcome& outcome) {
  for (size_t i = 0; i < running_.size(); ++i) {
    const int64_t budget = BudgetLeft(batch);
    if (budget == 0) {
      return;
    }
    const StepEntry entry = NextPart(running_[i], budget);
    while (!cache_.Extend(running_[i].id, HeldAfter(entry) - running_[i].held)) {
      PreemptLast(outcome);
      if (i == running_.size()) {
        return;  // it was the latest arrival itself
      }
    }
    running_[i].held = HeldAfter(entry);
    outcome.recomputed_tokens += Recomputed(running_[i], entry);
    batch.Add(entry);
  }
}

void ContinuousScheduler::PreemptLast(ScheduleOutcome& outcome) {
  SequenceState victim = running_.back();
  running_.pop_back();
  cache_.Release(victim.id);
  free_ids_.push_back(victim.id);
  outcome.preempted.push_back(victim.request);
  victim.id = -1;
  victim.computed_before = std::max(victim.computed_before, victim.computed);
  victim.computed = 0;
  victim.held = 0;
  waiting_.push_front(victim);
}

void ContinuousScheduler::AdmitWaiting(StepBatch& batch, ScheduleOutcome& outcome) {
  while (!waiting_.empty()) {
    SequenceState& head = waiting_.front();
    if (const std::string why = WhyNever(head); !why.empty()) {
      outcome.rejected.push_back({head.request, why});
      waiting_.pop_front();
      continue;
    }
    if (num_running() >= limits_.max_num_seqs) {
      outcome.bound_by = HeldBackBy::kSequences;
      return;
    }
    const int64_t budget = BudgetLeft(batch);
    if (budget == 0 || (!limits_.chunked_prefill && head.known_tokens() > budget)) {
      outcome.bound_by = HeldBackBy::kTokens;
      return;
    }
    head.id = free_ids_.empty() ? next_id_ : free_ids_.back();
    const StepEntry entry = NextPart(head, budget);
    const AdmitResult result =
        cache_.Admit({.sequence = head.id,
                      .tokens = HeldAfter(entry),
                      .estimate = head.output,
                      .final_length = head.final_length(),
                      .prefix_ids = trace_[static_cast<size_t>(head.request)].prefix_ids});
    if (result.kind == AdmitResult::Kind::kWait) {
      head.id = -1;
      outcome.bound_by = HeldBackBy::kMemory;
      return;
    }
    if (result.kind == AdmitResult::Kind::kNeverFits) {
      outcome.rejected.push_back({head.request, result.reason});
      waiting_.pop_front();
      continue;
    }
    if (free_ids_.empty()) {
      ++next_id_;
    } else {
      free_ids_.pop_back();
    }
    head.held = HeldAfter(entry);
    outcome.recomputed_tokens += Recomputed(head, entry);
    outcome.admitted.push_back(head.request);
    batch.Add(entry);
    running_.push_back(head);
    waiting_.pop_front();
  }
}

void ContinuousScheduler::Advance(const StepBatch& batch, std::vector<int64_t>& finished) {
  // Entries stand in the order of running_: the budget can only cut off its end.
  for (size_t i = 0; i < batch.entries.size(); ++i) {
    const StepEntry& entry = batch.entries[i];
    SequenceState& s = running_[i];
    assert(s.id == entry.sequence);
    s.computed += entry.count;
    if (entry.generates) {
      ++s.generated;
      if (s.generated == s.output) {
        finished.push_back(s.request);
      }
    }
  }
}

void ContinuousScheduler::ReleaseFinished() {
  std::erase_if(running_, [this](const SequenceState& s) {
    if (s.generated < s.output) {
      return false;
    }
    cache_.Release(s.id);
    free_ids_.push_back(s.id);
    return true;
  });
}

std::string ContinuousScheduler::WhyNever(const SequenceState& sequence) const {
  if (sequence.final_length() > limits_.max_model_len) {
    return "prompt and output exceed max_model_len " + std::to_string(limits_.max_model_len);
  }
  // A recompute may replay up to P + O - 1 tokens in one step.
  if (!limits_.chunked_prefill && sequence.final_length() > limits_.max_num_batched_tokens) {
    return "prompt and output exceed max_num_batched_tokens " +
           std::to_string(limits_.max_num_batched_tokens) + " without chunked prefill";
  }
  return {};
}

int64_t ContinuousScheduler::BudgetLeft(const StepBatch& batch) const {
  return limits_.max_num_batched_tokens - batch.tokens;
}

}  // namespace kvbench
