#include "bench/engine/engine.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "bench/engine/scheduler.h"

namespace kvbench {

namespace {

void CheckClock(bool passed) {
  if (passed) {
    throw Error("the run's clock passed 100 simulated days: use fewer requests or a higher rate");
  }
}

/// Hands requests to the scheduler when they have arrived and, in a closed loop, when the client
/// may send one more.
class Client {
 public:
  Client(RequestSource& source, int64_t max_concurrency)
      : source_(source), max_concurrency_(max_concurrency) {
    Fetch();
  }

  bool done() const { return done_; }
  int64_t next_arrival_ps() const { return next_.arrival_ns * 1000; }

  /// `in_flight` requests have been sent and have not ended.
  void SendArrived(int64_t now_ps, int64_t in_flight, Scheduler& scheduler, Metrics& metrics) {
    while (!done_ && next_arrival_ps() <= now_ps && MaySend(in_flight)) {
      metrics.OnArrival(index_, next_arrival_ps());
      scheduler.Enqueue({index_++, std::move(next_)});
      ++in_flight;
      Fetch();
    }
  }

  /// When the next request can be sent at the earliest if none in flight ends.
  int64_t NextSendPs(int64_t in_flight) const {
    return done_ || !MaySend(in_flight) ? std::numeric_limits<int64_t>::max() : next_arrival_ps();
  }

 private:
  bool MaySend(int64_t in_flight) const {
    return max_concurrency_ == 0 || in_flight < max_concurrency_;
  }
  void Fetch() {
    done_ = !source_.Next(next_);
    CheckClock(!done_ && next_.arrival_ns > kMaxClockPs / 1000);
  }

  RequestSource& source_;
  int64_t max_concurrency_;
  Request next_;
  int64_t index_ = 0;
  bool done_ = false;
};

/// How many of the steps begin before `span_ps` has passed since the start of the first one: at
/// least 1, at most times.steps.
int64_t StepsThatBeginWithin(int64_t span_ps, const StepTimes& times) {
  const int64_t most = times.steps;
  if (times.Until(most - 1) < span_ps) {
    return most;
  }
  // The start of step j lies at a j + d j (j - 1) / 2; solved, then put right by whole steps.
  const auto a = static_cast<double>(times.first_ps);
  const auto d = static_cast<double>(times.growth_ps);
  const auto span = static_cast<double>(span_ps);
  double guess = span / a;
  if (d > 0) {
    const double half = a - d / 2;
    guess = 2 * span / (half + std::sqrt(half * half + 2 * d * span));
  }
  auto steps = std::clamp(static_cast<int64_t>(guess), int64_t{0}, most - 1);
  while (steps > 0 && times.Until(steps) >= span_ps) {
    --steps;
  }
  while (steps + 1 < most && times.Until(steps + 1) < span_ps) {
    ++steps;
  }
  return steps + 1;
}

/// Tells an executor where the measured region ends, however the engine is left.
class MeasuredRegion {
 public:
  explicit MeasuredRegion(Executor& executor) : executor_(executor) { executor_.BeginMeasured(); }
  MeasuredRegion(const MeasuredRegion&) = delete;
  MeasuredRegion& operator=(const MeasuredRegion&) = delete;
  ~MeasuredRegion() { executor_.EndMeasured(); }

 private:
  Executor& executor_;
};

/// A step-time series is only followed where no sum in it can overflow: steps below five minutes.
constexpr int64_t kLongestInSeriesPs = int64_t{1} << 48;

}  // namespace

EngineResult RunEngine(RequestSource& source, const EngineLimits& limits, KvCache& cache,
                       Executor& executor, const EngineOptions& options) {
  EngineResult result{Metrics(options.metrics)};
  Metrics& metrics = result.metrics;
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(limits, cache);
  scheduler->set_lists_in_step(executor.needs_entries());
  scheduler->set_one_by_one(options.step_by_step);
  Client client(source, limits.max_concurrency);
  StepBatch batch;
  ScheduleOutcome outcome;
  std::vector<SequenceId> finished;
  int64_t& clock_ps = result.clock_ps;
  int64_t done = 0;
  int64_t generated = 0;
  const auto in_flight = [&] { return scheduler->num_running() + scheduler->num_waiting(); };

  const MeasuredRegion measured(executor);
  executor.BeginStep();
  while (true) {
    if (in_flight() == 0) {
      if (client.done()) {
        break;
      }
      clock_ps = std::max(clock_ps, client.next_arrival_ps());
    }
    if (clock_ps >= options.until_ps) {
      return result;
    }
    client.SendArrived(clock_ps, in_flight(), *scheduler, metrics);
    scheduler->Schedule(batch, outcome);
    StepTimes times;
    int64_t more = 0;  // equal steps after the first
    if (!batch.empty()) {
      const int64_t sample = metrics.StepsToSample();
      // A step that is sampled stands alone; before it, as many as lie there.
      const int64_t most =
          options.step_by_step || sample < 2 ? 1 : std::min(sample, kMaxEqualSteps);
      times = executor.Run(batch, cache, scheduler->EqualSteps(batch, outcome, most));
      if (times.steps > 1 && times.first_ps + times.growth_ps * times.steps < kLongestInSeriesPs) {
        const int64_t until = std::min({client.NextSendPs(in_flight()),
                                        metrics.window().NextEdge(clock_ps), options.until_ps});
        more = StepsThatBeginWithin(until - clock_ps, times) - 1;
      }
    }
    CheckClock(clock_ps + times.Until(more + 1) > kMaxClockPs);

    executor.BeginStep();
    metrics.OnStep(clock_ps, times.first_ps, batch, outcome, *scheduler, cache.usage());
    if (!cache.operations().empty()) {
      metrics.OnOperations(cache.operations(), times.operations_ps);
      cache.FinishOperations();
    }
    clock_ps += times.first_ps;
    if (more > 0) {
      const UsageSeries series = scheduler->Repeat(more);
      times.first_ps += times.growth_ps;
      metrics.OnEqualSteps(clock_ps, times, more, batch, outcome, *scheduler, series,
                           cache.usage());
      clock_ps += times.Until(more);
    }
    finished.clear();
    scheduler->Advance(batch, finished);
    for (const SequenceId id : finished) {
      metrics.OnFinished(scheduler->sequence(id), clock_ps);
    }
    if (!finished.empty()) {
      scheduler->ReleaseFinished(finished);
    }
    done += static_cast<int64_t>(finished.size() + outcome.rejected.size());
    generated += batch.load.generating * (more + 1);
    if (options.on_step && !options.on_step({clock_ps, done, generated, cache.usage()})) {
      result.stopped = true;
      return result;
    }
  }
  if (cache.usage().allocated() != 0) {
    throw std::logic_error("slots are still taken after the last request has left");
  }
  return result;
}

}  // namespace kvbench
