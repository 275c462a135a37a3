#include "bench/engine/metrics.h"

#include <algorithm>

namespace kvbench {

namespace {

LatencySamples::Keep KeepOf(const MetricsOptions& options) {
  return options.exact_percentiles ? LatencySamples::Keep::kValues
                                   : LatencySamples::Keep::kHistogram;
}

}  // namespace

void UsageSums::Add(const Usage& usage, int64_t weight) {
  live += Int128{usage.live} * weight;
  reserved += Int128{usage.reserved} * weight;
  overestimate += Int128{usage.overestimate} * weight;
  rounding += Int128{usage.rounding} * weight;
  free += Int128{usage.free} * weight;
}

Metrics::Metrics(const MetricsOptions& options)
    : options_(options),
      ttft_(KeepOf(options)),
      tpot_(KeepOf(options)),
      itl_(KeepOf(options)),
      e2el_(KeepOf(options)),
      queue_(KeepOf(options)) {
  timeline_.reserve(kMaxTimeline + 1);
  constexpr int64_t kMostReserved = int64_t{1} << 22;  // 64 MiB, touched as they are used
  itl_.Reserve(std::min(options.expected_tokens, kMostReserved));
}

void Metrics::OnArrival(int64_t index, int64_t arrival_ps) {
  ++arrived_;
  if (window().Contains(arrival_ps)) {
    requests_.first_arrival_ps =
        requests_.first_arrival_ps < 0 ? arrival_ps : requests_.first_arrival_ps;
  } else if (!excluded_.empty() && excluded_.back().second == index - 1) {
    excluded_.back().second = index;
  } else {
    excluded_.emplace_back(index, index);
  }
}

void Metrics::OnStep(int64_t start_ps, int64_t duration_ps, const StepBatch& batch,
                     const ScheduleOutcome& outcome, Scheduler& scheduler, const Usage& usage) {
  CountOutcome(start_ps, outcome, scheduler);
  if (batch.empty()) {
    return;  // everything that was queued has been rejected: no step ran
  }
  CountTokens(start_ps, duration_ps, batch, scheduler);
  const int64_t running = scheduler.num_running();
  const int64_t waiting = scheduler.num_waiting();
  if (total_steps_ % timeline_stride_ == 0) {
    AddToTimeline({start_ps + duration_ps, running, waiting, usage});
  }
  ++total_steps_;
  peak_running_ = std::max(peak_running_, running);
  peak_live_slots_ = std::max(peak_live_slots_, usage.live);
  peak_allocated_slots_ = std::max(peak_allocated_slots_, usage.allocated());
  if (!window().Contains(start_ps)) {
    return;
  }
  const auto add = [&](StepSums& sums) {
    ++sums.steps;
    sums.time_ps += duration_ps;
    sums.running += running;
    sums.waiting += waiting;
    sums.generated += batch.load.generating;
  };
  add(all_);
  if (waiting > 0) {
    add(while_waiting_);
  }
  usage_per_step_.Add(usage, 1);
  usage_over_time_.Add(usage, duration_ps);
  ++bound_by_[static_cast<size_t>(outcome.bound_by)];
}

void Metrics::OnEqualSteps(int64_t start_ps, const StepTimes& times, int64_t n,
                           const StepBatch& batch, const ScheduleOutcome& outcome,
                           const Scheduler& scheduler, const UsageSeries& series,
                           const Usage& last) {
  const int64_t running = scheduler.num_running();
  const int64_t waiting = scheduler.num_waiting();
  itl_.AddSeries(times.first_ps, times.growth_ps, n, in_step_inside_);
  total_steps_ += n;
  peak_live_slots_ = std::max(peak_live_slots_, last.live);
  peak_allocated_slots_ = std::max(peak_allocated_slots_, last.allocated());
  if (!window().Contains(start_ps)) {
    return;
  }
  const auto add = [&](StepSums& sums) {
    sums.steps += n;
    sums.time_ps += times.Until(n);
    sums.running += Int128{running} * n;
    sums.waiting += Int128{waiting} * n;
    sums.generated += Int128{batch.load.generating} * n;
  };
  add(all_);
  if (waiting > 0) {
    add(while_waiting_);
  }
  usage_per_step_.Add(series.sum, 1);
  usage_over_time_.Add(series.sum, times.first_ps);
  usage_over_time_.Add(series.moment, times.growth_ps);
  bound_by_[static_cast<size_t>(outcome.bound_by)] += n;
}

void Metrics::OnOperations(std::span<const Operation> operations, int64_t duration_ps) {
  operations_.operations += static_cast<int64_t>(operations.size());
  for (const Operation& operation : operations) {
    operations_.tokens += operation.tokens;
  }
  operations_.time_ps += duration_ps;
}

void Metrics::CountOutcome(int64_t start_ps, const ScheduleOutcome& outcome, Scheduler& scheduler) {
  for (const SequenceId id : outcome.admitted) {
    RequestOutcome& o = scheduler.sequence(id).outcome;
    o.admitted_ps = o.admitted_ps < 0 ? start_ps : o.admitted_ps;
  }
  for (const SequenceId id : outcome.preempted) {
    Sequence& s = scheduler.sequence(id);
    ++s.outcome.preemptions;
    LeaveStep(s, start_ps);
  }
  for (const Rejection& rejection : outcome.rejected) {
    const int64_t arrival_ps = rejection.request.arrival_ns * 1000;
    if (window().Contains(arrival_ps)) {
      ++requests_.rejected;
      ++rejected_[rejection.reason];
    }
    if (options_.keep_requests) {
      rows_.push_back({rejection.index,
                       rejection.request.prompt_tokens,
                       rejection.request.output_tokens,
                       {.arrival_ps = arrival_ps, .rejected = true}});
    }
  }
  preemptions_ += static_cast<int64_t>(outcome.preempted.size());
  recomputed_tokens_ += outcome.recomputed_tokens;
}

void Metrics::CountTokens(int64_t start_ps, int64_t duration_ps, const StepBatch& batch,
                          Scheduler& scheduler) {
  const int64_t end_ps = start_ps + duration_ps;
  const std::vector<SequenceId>& running = scheduler.running();
  if (all_in_step_) {
    itl_.Add(duration_ps, batch.in_step > 0 ? in_step_inside_ : 0);
  } else {
    for (int64_t i = 0; i < batch.in_step; ++i) {
      CountToken(scheduler.sequence(running[static_cast<size_t>(i)]), start_ps, end_ps);
    }
  }
  for (size_t i = batch.first_single(); i < batch.entries.size(); ++i) {
    if (batch.entries[i].generates) {
      CountToken(scheduler.sequence(batch.entries[i].sequence), start_ps, end_ps);
    }
  }
  if (batch.in_step > 0) {
    all_in_step_ = true;
    return;
  }
  all_in_step_ = true;
  for (const SequenceId id : running) {
    Sequence& s = scheduler.sequence(id);
    if (s.outcome.in_step && s.outcome.last_token_ps != end_ps) {
      LeaveStep(s, start_ps);
    }
    all_in_step_ = all_in_step_ && s.outcome.in_step;
  }
}

void Metrics::CountToken(Sequence& sequence, int64_t start_ps, int64_t end_ps) {
  RequestOutcome& o = sequence.outcome;
  const bool inside = window().Contains(o.arrival_ps);
  if (o.first_token_ps < 0) {
    o.first_token_ps = end_ps;
  } else if (inside) {
    itl_.Add(end_ps - (o.in_step ? start_ps : o.last_token_ps));
  }
  if (!o.in_step) {
    o.in_step = true;
    in_step_inside_ += inside ? 1 : 0;
  }
  o.last_token_ps = end_ps;
}

/// It does not generate in the step that begins now; its newest token came at that moment.
void Metrics::LeaveStep(Sequence& sequence, int64_t time_ps) {
  RequestOutcome& o = sequence.outcome;
  if (o.in_step) {
    o.in_step = false;
    o.last_token_ps = time_ps;
    in_step_inside_ -= window().Contains(o.arrival_ps) ? 1 : 0;
  }
}

void Metrics::OnFinished(Sequence& sequence, int64_t time_ps) {
  LeaveStep(sequence, time_ps);
  RequestOutcome& o = sequence.outcome;
  o.finished_ps = time_ps;
  ++finished_;
  if (options_.keep_requests) {
    rows_.push_back(
        {sequence.index, sequence.request.prompt_tokens, sequence.request.output_tokens, o});
  }
  if (!window().Contains(o.arrival_ps)) {
    return;
  }
  const int64_t output = sequence.request.output_tokens;
  const int64_t ttft = o.first_token_ps - o.arrival_ps;
  const int64_t e2el = o.finished_ps - o.arrival_ps;
  const int64_t tpot = output > 1 ? (o.finished_ps - o.first_token_ps) / (output - 1) : 0;
  ++requests_.completed;
  requests_.input_tokens += sequence.request.prompt_tokens;
  requests_.output_tokens += output;
  requests_.normalized_ps += e2el / output;
  requests_.last_completion_ps = std::max(requests_.last_completion_ps, time_ps);
  // A request of one output token has no TPOT and cannot miss its goal.
  const Slo& slo = options_.slo;
  requests_.met_slo += ttft <= slo.ttft_ps && tpot <= slo.tpot_ps && e2el <= slo.e2el_ps ? 1 : 0;
  ttft_.Add(ttft);
  e2el_.Add(e2el);
  queue_.Add(o.admitted_ps - o.arrival_ps);
  if (output > 1) {
    tpot_.Add(tpot);
  }
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
