#include "bench/engine/continuous_scheduler.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <stdexcept>

namespace kvbench {

namespace {

/// Slots that the sequence holds once the entry has run, the generated token's included.
int64_t HeldAfter(const StepEntry& entry) { return entry.context() + (entry.generates ? 1 : 0); }

int64_t Recomputed(int64_t computed_before, const StepEntry& entry) {
  return std::clamp(computed_before - entry.first_position, int64_t{0}, entry.count);
}

}  // namespace

ContinuousScheduler::ContinuousScheduler(const EngineLimits& limits, KvCache& cache)
    : Scheduler(limits, cache), whole_prompts_(!limits.chunked_prefill || !cache.keeps_tokens()) {}

void ContinuousScheduler::Schedule(StepBatch& batch, ScheduleOutcome& outcome) {
  batch.clear();
  batch.lists_in_step = lists_in_step_;
  outcome.clear();
  bool all_in = true;
  if (!one_by_one_ && decoding_ == num_running() && decoding_ <= limits_.max_num_batched_tokens) {
    all_in = ScheduleInStep(batch, outcome);
  } else {
    all_in = ScheduleOneByOne(batch, outcome);
  }
  if (num_waiting() > 0) {
    AdmitWaiting(all_in ? limits_.max_num_batched_tokens - batch.tokens() : 0, batch, outcome);
  }
  if (batch.empty() && num_waiting() > 0) {
    // An empty cache takes whatever can fit at all, so this is a defect and would otherwise be an
    // endless loop.
    throw std::logic_error("the scheduler is stuck: nothing runs and the head of the queue waits");
  }
}

/// What ScheduleOneByOne does where everyone decodes: whoever is preempted there is one of the
/// latest, and the older ones are those that all find room. Who gets it by an operation takes it in
/// turn, because it matters who asks first.
bool ContinuousScheduler::ScheduleInStep(StepBatch& batch, ScheduleOutcome& outcome) {
  if (cache_.EqualSteps(1) == 0) {
    while (decoding_ > 0 && !cache_.HasRoom()) {
      PreemptLast(outcome);
    }
    if (cache_.EqualSteps(1) == 0) {
      return ScheduleOneByOne(batch, outcome);
    }
  }
  if (decoding_ == 0) {
    return true;
  }
  cache_.ExtendAll(1);
  batch.in_step = decoding_;
  batch.load.decodes = decoding_;
  batch.load.generating = decoding_;
  batch.load.decode_context = decoding_base_ + decoding_ * round_;
  if (lists_in_step_) {
    for (const SequenceId id : running()) {
      batch.entries.push_back(NextPart(id, 1));
    }
  }
  return true;
}

/// False: the budget did not reach for all.
bool ContinuousScheduler::ScheduleOneByOne(StepBatch& batch, ScheduleOutcome& outcome) {
  for (size_t i = 0; i < running().size(); ++i) {
    const SequenceId id = running()[i];
    const int64_t budget = limits_.max_num_batched_tokens - batch.tokens();
    const StepEntry entry = NextPart(id, budget);
    if (entry.count == 0) {
      return false;
    }
    Sequence& s = sequence(id);
    const int64_t held = s.decoding ? entry.context() : s.held;
    while (!cache_.Extend(id, HeldAfter(entry) - held)) {
      PreemptLast(outcome);
      if (i == running().size()) {
        return true;  // it was the latest arrival itself
      }
    }
    s.held = HeldAfter(entry);
    outcome.recomputed_tokens += s.decoding ? 0 : Recomputed(s.computed_before, entry);
    batch.Add(entry);
  }
  return true;
}

void ContinuousScheduler::PreemptLast(ScheduleOutcome& outcome) {
  const SequenceId id = running().back();
  Sequence& victim = sequence(id);
  if (victim.decoding) {
    StopDecoding(victim);
    victim.computed = victim.known_tokens() - 1;
  }
  victim.computed_before = std::max(victim.computed_before, victim.computed);
  victim.computed = 0;
  victim.held = 0;
  cache_.Release(id);
  RequeueLast(outcome);
}

void ContinuousScheduler::AdmitWaiting(int64_t budget, StepBatch& batch, ScheduleOutcome& outcome) {
  while (num_waiting() > 0) {
    const Head head = PeekHead();
    if (std::string why = WhyNever(head.final_length, whole_prompts_); !why.empty()) {
      RejectHead(head, std::move(why), outcome);
      continue;
    }
    if (num_running() >= limits_.max_num_seqs) {
      outcome.bound_by = HeldBackBy::kSequences;
      return;
    }
    if (budget == 0 || (whole_prompts_ && head.known_tokens > budget)) {
      outcome.bound_by = HeldBackBy::kTokens;
      return;
    }
    const int64_t count = std::min(head.known_tokens, budget);
    const bool generates = count == head.known_tokens;
    AdmitResult result = cache_.Admit({.sequence = head.id,
                                       .tokens = count + (generates ? 1 : 0),
                                       .estimate = head.output_tokens,
                                       .final_length = head.final_length,
                                       .known = head.known_tokens,
                                       .prefix_ids = head.prefix_ids});
    if (result.kind == AdmitResult::Kind::kWait) {
      outcome.bound_by = HeldBackBy::kMemory;
      return;
    }
    if (result.kind == AdmitResult::Kind::kNeverFits) {
      RejectHead(head, std::move(result.reason), outcome);
      continue;
    }
    Sequence& s = AdmitHead(head);
    const StepEntry entry{.sequence = head.id,
                          .request = s.index,
                          .first_position = 0,
                          .count = count,
                          .generates = generates};
    s.held = HeldAfter(entry);
    outcome.recomputed_tokens += Recomputed(s.computed_before, entry);
    outcome.admitted.push_back(head.id);
    batch.Add(entry);
    budget -= count;
  }
}

/// The part that a step with `budget` tokens left computes next; count is 0 where it must wait.
StepEntry ContinuousScheduler::NextPart(SequenceId id, int64_t budget) const {
  const Sequence& s = sequence(id);
  StepEntry entry{.sequence = id, .request = s.index};
  if (s.decoding) {
    entry.first_position = s.request.prompt_tokens + s.lead + round_ - 1;
    entry.count = budget > 0 ? 1 : 0;
    entry.generates = true;
    return entry;
  }
  const int64_t missing = s.known_tokens() - s.computed;
  entry.first_position = s.computed;
  entry.count = std::min(missing, budget);
  entry.generates = entry.count == missing;
  if (whole_prompts_ && !entry.generates) {
    entry.count = 0;
  }
  return entry;
}

int64_t ContinuousScheduler::EqualSteps(const StepBatch& batch, const ScheduleOutcome& outcome,
                                        int64_t limit) {
  if (batch.in_step == 0 || batch.load.sequences() > batch.in_step || !outcome.rejected.empty() ||
      !cache_.operations().empty()) {
    return 1;
  }
  DropOldEnds();
  // The last round of the one that ends first may be skipped to, not over.
  const int64_t steps = std::min(limit, ends_.top().round - round_);
  return 1 + cache_.EqualSteps(steps - 1);
}

UsageSeries ContinuousScheduler::Repeat(int64_t n) {
  round_ += n;
  return cache_.ExtendAll(n);
}

void ContinuousScheduler::Advance(const StepBatch& batch, std::vector<SequenceId>& finished) {
  ++round_;
  for (size_t i = batch.first_single(); i < batch.entries.size(); ++i) {
    const StepEntry& entry = batch.entries[i];
    Sequence& s = sequence(entry.sequence);
    if (s.decoding) {
      continue;  // it gained its token with the round
    }
    s.computed += entry.count;
    if (!entry.generates) {
      continue;
    }
    ++s.generated;
    if (cache_.keeps_tokens()) {
      StartDecoding(entry.sequence);
    } else {
      s.computed_before = s.computed;
      s.computed = 0;
      if (s.generated == s.request.output_tokens) {
        finished.push_back(entry.sequence);
      }
    }
  }
  if (batch.in_step == 0) {
    // The budget can only cut off the end of running(); those behind it stay where they are.
    for (size_t i = batch.entries.size(); i < running().size(); ++i) {
      Sequence& s = sequence(running()[i]);
      if (s.decoding) {
        --s.lead;
        --decoding_base_;
        ++s.term;
        ends_.push({s.request.output_tokens - s.lead, running()[i], s.term});
      }
    }
  }
  const size_t begin = finished.size();
  for (DropOldEnds(); !ends_.empty() && ends_.top().round == round_; DropOldEnds()) {
    finished.push_back(ends_.top().id);
    ends_.pop();
  }
  std::sort(finished.begin() + static_cast<std::ptrdiff_t>(begin), finished.end(),
            [this](SequenceId a, SequenceId b) { return sequence(a).index < sequence(b).index; });
}

void ContinuousScheduler::ReleaseFinished(const std::vector<SequenceId>& finished) {
  for (const SequenceId id : finished) {
    Sequence& s = sequence(id);
    if (s.decoding) {
      StopDecoding(s);
    }
    cache_.Release(id);
    Retire(id);
  }
}

void ContinuousScheduler::StartDecoding(SequenceId id) {
  Sequence& s = sequence(id);
  s.decoding = true;
  s.lead = s.generated - round_;
  ++s.term;
  ++decoding_;
  decoding_base_ += s.request.prompt_tokens + s.lead;
  ends_.push({s.request.output_tokens - s.lead, id, s.term});
}

void ContinuousScheduler::StopDecoding(Sequence& s) {
  s.decoding = false;
  s.generated = s.lead + round_;
  ++s.term;
  --decoding_;
  decoding_base_ -= s.request.prompt_tokens + s.lead;
}

void ContinuousScheduler::DropOldEnds() {
  while (!ends_.empty() && sequence(ends_.top().id).term != ends_.top().term) {
    ends_.pop();
  }
}

}  // namespace kvbench
