#include "bench/engine/scheduler.h"

#include <algorithm>
#include <cassert>

#include "bench/engine/continuous_scheduler.h"
#include "bench/engine/static_scheduler.h"

namespace kvbench {

Scheduler::Head Scheduler::PeekHead() const {
  Head head;
  const Request* request = nullptr;
  if (!preempted_.empty()) {
    const Sequence& s = sequence(preempted_.back());
    request = &s.request;
    head.id = preempted_.back();
    head.known_tokens = s.known_tokens();
  } else {
    request = &arrived_.front().request;
    head.id = free_ids_.empty() ? static_cast<SequenceId>(sequences_.size()) : free_ids_.back();
    head.is_new = true;
    head.known_tokens = request->prompt_tokens;
  }
  head.final_length = request->total_tokens();
  head.output_tokens = request->output_tokens;
  head.prefix_ids = request->prefix_ids;
  return head;
}

Sequence& Scheduler::AdmitHead(const Head& head) {
  running_.push_back(head.id);
  if (!head.is_new) {
    preempted_.pop_back();
    return sequence(head.id);
  }
  if (free_ids_.empty()) {
    sequences_.emplace_back();
  } else {
    free_ids_.pop_back();
  }
  Sequence& s = sequence(head.id);
  const uint32_t term = s.term;  // goes on counting over all sequences with this id
  s = Sequence{};
  s.term = term;
  s.index = arrived_.front().index;
  s.request = std::move(arrived_.front().request);
  s.outcome.arrival_ps = s.request.arrival_ns * 1000;
  arrived_.pop_front();
  return s;
}

void Scheduler::RejectHead(const Head& head, std::string reason, ScheduleOutcome& outcome) {
  // What has been admitted once can be admitted again.
  assert(head.is_new);
  (void)head;
  const Arrival& arrival = arrived_.front();
  outcome.rejected.push_back({arrival.index, arrival.request, std::move(reason)});
  arrived_.pop_front();
}

void Scheduler::RequeueLast(ScheduleOutcome& outcome) {
  preempted_.push_back(running_.back());
  outcome.preempted.push_back(running_.back());
  running_.pop_back();
}

void Scheduler::Retire(SequenceId id) {
  const auto place = std::lower_bound(
      running_.begin(), running_.end(), sequence(id).index,
      [this](SequenceId running, int64_t index) { return sequence(running).index < index; });
  assert(place != running_.end() && *place == id);
  running_.erase(place);
  free_ids_.push_back(id);
}

std::string Scheduler::WhyNever(int64_t final_length, bool whole_prompts) const {
  if (final_length > limits_.max_model_len) {
    return "prompt and output exceed max_model_len " + std::to_string(limits_.max_model_len);
  }
  if (whole_prompts && final_length > limits_.max_num_batched_tokens) {
    return "prompt and output exceed max_num_batched_tokens " +
           std::to_string(limits_.max_num_batched_tokens) + " without chunked prefill";
  }
  return {};
}

std::unique_ptr<Scheduler> MakeScheduler(const EngineLimits& limits, KvCache& cache) {
  switch (limits.scheduler) {
    case SchedulerKind::kContinuous:
      break;
    case SchedulerKind::kStatic:
      return std::make_unique<StaticScheduler>(limits, cache, StaticScheduler::Padding::kLongest);
    case SchedulerKind::kFasterTransformer:
      return std::make_unique<StaticScheduler>(limits, cache, StaticScheduler::Padding::kNone);
  }
  return std::make_unique<ContinuousScheduler>(limits, cache);
}

}  // namespace kvbench
