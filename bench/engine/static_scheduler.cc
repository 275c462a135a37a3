#include "bench/engine/static_scheduler.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <utility>

namespace kvbench {

StaticScheduler::StaticScheduler(const EngineLimits& limits, KvCache& cache, Padding padding)
    : Scheduler(limits, cache), padding_(padding) {}

void StaticScheduler::Schedule(StepBatch& batch, ScheduleOutcome& outcome) {
  batch.clear();
  batch.lists_in_step = lists_in_step_;
  outcome.clear();
  if (num_running() == 0 && num_waiting() > 0) {
    FormBatch(outcome);
  }
  if (num_running() > 0) {
    ScheduleStep(batch);
  } else if (num_waiting() > 0) {
    throw std::logic_error("the scheduler is stuck: nothing runs and the head of the queue waits");
  }
  if (num_waiting() > 0) {
    outcome.bound_by = closed_by_ == HeldBackBy::kNothing ? HeldBackBy::kSequences : closed_by_;
  }
}

void StaticScheduler::FormBatch(ScheduleOutcome& outcome) {
  steps_ = 0;
  longest_prompt_ = 0;
  longest_output_ = 0;
  closed_by_ = HeldBackBy::kNothing;
  while (num_waiting() > 0) {
    const Head head = PeekHead();
    if (std::string why = WhyNever(head.final_length, false); !why.empty()) {
      RejectHead(head, std::move(why), outcome);
      continue;
    }
    if (num_running() >= limits_.max_num_seqs) {
      closed_by_ = HeldBackBy::kSequences;
      break;
    }
    const int64_t prompt = std::max(longest_prompt_, head.known_tokens);
    const int64_t output = std::max(longest_output_, head.output_tokens);
    if (prompt + output > limits_.max_model_len) {
      closed_by_ = HeldBackBy::kTokens;
      break;
    }
    // At its full length, so that whoever gets in can stay to the end.
    AdmitResult result = cache_.Admit({.sequence = head.id,
                                       .tokens = head.final_length,
                                       .estimate = head.output_tokens,
                                       .final_length = head.final_length,
                                       .prefix_ids = head.prefix_ids});
    if (result.kind == AdmitResult::Kind::kNeverFits) {
      RejectHead(head, std::move(result.reason), outcome);
      continue;
    }
    if (result.kind == AdmitResult::Kind::kWait) {
      closed_by_ = HeldBackBy::kMemory;
      break;
    }
    AdmitHead(head);
    outcome.admitted.push_back(head.id);
    longest_prompt_ = prompt;
    longest_output_ = output;
  }
  AdmitAll(outcome.admitted);
}

/// Once it is known who gets in, everyone takes what the first step needs.
void StaticScheduler::AdmitAll(const std::vector<SequenceId>& members) {
  for (const SequenceId id : members) {
    cache_.Release(id);
  }
  for (const SequenceId id : members) {
    Sequence& s = sequence(id);
    s.held = s.request.prompt_tokens + 1;
    const AdmitResult result = cache_.Admit({.sequence = id,
                                             .tokens = s.held,
                                             .estimate = s.request.output_tokens,
                                             .final_length = s.final_length(),
                                             .prefix_ids = s.request.prefix_ids});
    if (result.kind != AdmitResult::Kind::kFits) {
      throw std::logic_error("a batch that fitted at full length does not fit at its beginning");
    }
  }
}

void StaticScheduler::ScheduleStep(StepBatch& batch) {
  const bool last = steps_ + 1 == longest_output_;
  for (const SequenceId id : running()) {
    Sequence& s = sequence(id);
    const bool done = s.generated == s.request.output_tokens;
    if (!done && steps_ > 0) {
      const bool room = cache_.Extend(id, 1);
      assert(room);
      (void)room;
      ++s.held;
    }
    // Its last token is delivered with the batch; an entry of no token may do that.
    const bool ends = s.generated + 1 >= s.request.output_tokens;
    const bool padded = padding_ == Padding::kLongest;
    StepEntry entry{.sequence = id, .request = s.index};
    entry.first_position = s.computed;
    entry.count = done ? 0 : s.known_tokens() - s.computed;
    entry.generates = ends ? last : true;
    batch.entries.push_back(entry);
    // What is computed: padding included.
    const int64_t prompt = padded ? longest_prompt_ : s.request.prompt_tokens;
    if (steps_ == 0 || !cache_.keeps_tokens()) {
      batch.load.AddPart(0, prompt + steps_, entry.generates);
    } else {
      batch.load.AddPart(prompt + steps_ - 1, 1, entry.generates);
    }
  }
}

UsageSeries StaticScheduler::Repeat(int64_t /*n*/) {
  throw std::logic_error("static batches have no equal steps");
}

void StaticScheduler::Advance(const StepBatch& batch, std::vector<SequenceId>& finished) {
  ++steps_;
  for (const StepEntry& entry : batch.entries) {
    Sequence& s = sequence(entry.sequence);
    s.computed += entry.count;
    s.generated += entry.count > 0 ? 1 : 0;
  }
  if (steps_ == longest_output_) {
    finished.insert(finished.end(), running().begin(), running().end());
  }
}

void StaticScheduler::ReleaseFinished(const std::vector<SequenceId>& finished) {
  for (const SequenceId id : finished) {
    cache_.Release(id);
    Retire(id);
  }
}

}  // namespace kvbench
