#include "bench/engine/engine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bench/engine/scheduler.h"
#include "workloads/error.h"

namespace kvbench {

namespace {

/// Hands requests to the scheduler when they have arrived and, in a closed loop, when the client
/// may send one more.
class Client {
 public:
  Client(const Trace& trace, int64_t max_concurrency)
      : trace_(trace), max_concurrency_(max_concurrency) {}

  bool done() const { return next_ == trace_.requests.size(); }
  int64_t next_arrival_ps() const { return trace_.requests[next_].arrival_ns * 1000; }

  /// `in_flight` requests have been sent and have not ended.
  void SendArrived(int64_t now_ps, int64_t in_flight, ContinuousScheduler& scheduler) {
    while (!done() && next_arrival_ps() <= now_ps &&
           (max_concurrency_ == 0 || in_flight < max_concurrency_)) {
      scheduler.Enqueue(static_cast<int64_t>(next_++));
      ++in_flight;
    }
  }

 private:
  const Trace& trace_;
  int64_t max_concurrency_;
  size_t next_ = 0;
};

void CheckClock(int64_t time_ps) {
  if (time_ps > kMaxClockPs) {
    throw Error("the run's clock passed 100 simulated days: use fewer requests or a higher rate");
  }
}

}  // namespace

EngineResult RunEngine(const Trace& trace, const EngineLimits& limits, KvCache& cache,
                       Executor& executor, const EngineOptions& options) {
  if (!trace.requests.empty()) {
    CheckClock(trace.requests.back().arrival_ns > kMaxClockPs / 1000
                   ? kMaxClockPs + 1
                   : trace.requests.back().arrival_ns * 1000);
  }
  EngineResult result{Metrics(trace.requests, options.window)};
  Metrics& metrics = result.metrics;
  ContinuousScheduler scheduler(limits, trace.requests, cache);
  Client client(trace, limits.max_concurrency);
  StepBatch batch;
  ScheduleOutcome outcome;
  std::vector<int64_t> finished;
  int64_t clock_ps = 0;
  int64_t done = 0;
  int64_t generated = 0;

  executor.BeginStep();
  while (true) {
    if (scheduler.num_running() == 0 && scheduler.num_waiting() == 0) {
      if (client.done()) {
        break;
      }
      clock_ps = std::max(clock_ps, client.next_arrival_ps());
    }
    client.SendArrived(clock_ps, scheduler.num_running() + scheduler.num_waiting(), scheduler);
    scheduler.Schedule(batch, outcome);
    const int64_t duration_ps = batch.entries.empty() ? 0 : executor.Run(batch, cache);
    const int64_t end_ps = clock_ps + duration_ps;
    CheckClock(end_ps);

    executor.BeginStep();
    const int64_t running = scheduler.num_running();
    finished.clear();
    scheduler.Advance(batch, finished);
    metrics.OnStep(clock_ps, duration_ps, batch, outcome, running, scheduler.num_waiting(),
                   cache.usage());
    for (const int64_t request : finished) {
      metrics.OnFinished(request, end_ps);
    }
    if (!finished.empty()) {
      scheduler.ReleaseFinished();
    }
    clock_ps = end_ps;
    done += static_cast<int64_t>(finished.size() + outcome.rejected.size());
    generated += batch.generating;
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
