#pragma once

#include <benchmark/benchmark.h>

#include <chrono>

#include "bench/micro/counters.h"
#include "bench/micro/workbench.h"

namespace kvbench::micro {

/// Measures the read roof between the iterations of a case: before the first, and again whenever
/// the case has moved as many bytes as a measurement reads. So both see the same machine, and the
/// last-level cache is never the case's own.
class RoofMeter {
 public:
  RoofMeter(Workbench& bench, int threads)
      : roof_(bench.roof()), pool_(bench.pool(threads)), roof_bytes_(bench.roof_bytes()) {}

  /// Call it before an iteration, with the clock stopped.
  void BeforeIteration() {
    if (since_ >= roof_bytes_) {
      since_ = 0;
    }
    if (since_ == 0) {
      seconds_ += static_cast<double>(roof_bytes_) / roof_.Measure(pool_);
      ++measurements_;
    }
  }

  /// An iteration has moved so many bytes in so many seconds.
  void AfterIteration(int64_t bytes, double seconds) {
    since_ += bytes;
    case_bytes_ += static_cast<double>(bytes);
    case_seconds_ += seconds;
  }

  double bytes_per_s() const { return static_cast<double>(roof_bytes_) * measurements_ / seconds_; }

  /// roof_bytes_per_s and roof_share.
  void SetCounters(benchmark::State& state) const {
    state.counters["roof_bytes_per_s"] = bytes_per_s();
    state.counters["roof_share"] = case_bytes_ / case_seconds_ / bytes_per_s();
  }

 private:
  ReadRoof& roof_;
  ThreadPool& pool_;
  int64_t roof_bytes_;
  int64_t since_ = 0;
  int measurements_ = 0;
  double seconds_ = 0;
  double case_bytes_ = 0;
  double case_seconds_ = 0;
};

/// Seconds that f takes.
template <typename F>
double SecondsOf(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace kvbench::micro
