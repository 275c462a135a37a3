#include "bench/engine/metrics.h"

#include <algorithm>

namespace kvbench {

void UsageSums::Add(const Usage& usage, int64_t weight) {
  live += Int128{usage.live} * weight;
  reserved += Int128{usage.reserved} * weight;
  overestimate += Int128{usage.overestimate} * weight;
  rounding += Int128{usage.rounding} * weight;
  free += Int128{usage.free} * weight;
}

Metrics::Metrics(std::span<const Request> trace, const MetricsWindow& window)
    : trace_(trace), window_(window), outcomes_(trace.size()) {
  timeline_.reserve(kMaxTimeline + 1);
}

void Metrics::OnStep(int64_t start_ps, int64_t duration_ps, const StepBatch& batch,
                     const ScheduleOutcome& outcome, int64_t running, int64_t waiting,
                     const Usage& usage) {
  for (const int64_t request : outcome.admitted) {
    RequestOutcome& o = outcomes_[static_cast<size_t>(request)];
    o.admitted_ps = o.admitted_ps < 0 ? start_ps : o.admitted_ps;
  }
  for (const int64_t request : outcome.preempted) {
    ++outcomes_[static_cast<size_t>(request)].preemptions;
  }
  for (const Rejection& rejection : outcome.rejected) {
    outcomes_[static_cast<size_t>(rejection.request)].rejected = true;
    if (window_.Contains(ArrivalPs(rejection.request))) {
      ++rejected_[rejection.reason];
    }
  }
  preemptions_ += static_cast<int64_t>(outcome.preempted.size());
  recomputed_tokens_ += outcome.recomputed_tokens;
  if (batch.entries.empty()) {
    return;  // everything that was queued has been rejected: no step ran
  }
  AddTokens(start_ps + duration_ps, batch);
  if (total_steps_ % timeline_stride_ == 0) {
    AddToTimeline({start_ps + duration_ps, running, waiting, usage});
  }
  ++total_steps_;
  peak_running_ = std::max(peak_running_, running);
  peak_live_slots_ = std::max(peak_live_slots_, usage.live);
  peak_allocated_slots_ = std::max(peak_allocated_slots_, usage.allocated());
  if (!window_.Contains(start_ps)) {
    return;
  }
  const auto add = [&](StepSums& sums) {
    ++sums.steps;
    sums.time_ps += duration_ps;
    sums.running += running;
    sums.waiting += waiting;
    sums.generated += batch.generating;
  };
  add(all_);
  if (waiting > 0) {
    add(while_waiting_);
  }
  usage_per_step_.Add(usage, 1);
  usage_over_time_.Add(usage, duration_ps);
  ++bound_by_[static_cast<size_t>(outcome.bound_by)];
}

void Metrics::AddTokens(int64_t end_ps, const StepBatch& batch) {
  for (const StepEntry& entry : batch.entries) {
    if (!entry.generates) {
      continue;
    }
    RequestOutcome& o = outcomes_[static_cast<size_t>(entry.request)];
    if (o.first_token_ps < 0) {
      o.first_token_ps = end_ps;
    } else if (window_.Contains(ArrivalPs(entry.request))) {
      itl_ps_.push_back(end_ps - o.last_token_ps);
    }
    o.last_token_ps = end_ps;
  }
}

void Metrics::OnFinished(int64_t request, int64_t time_ps) {
  outcomes_[static_cast<size_t>(request)].finished_ps = time_ps;
  ++finished_;
}

void Metrics::AddToTimeline(const TimelineSample& sample) {
  timeline_.push_back(sample);
  if (timeline_.size() <= kMaxTimeline) {
    return;
  }
  for (size_t i = 0; 2 * i < timeline_.size(); ++i) {
    timeline_[i] = timeline_[2 * i];
  }
  timeline_.resize((timeline_.size() + 1) / 2);
  timeline_stride_ *= 2;
}

}  // namespace kvbench
