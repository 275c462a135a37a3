#include <fmt/format.h>

#include "bench/micro/counters.h"
#include "bench/micro/fma_peak.h"

namespace kvbench::micro {

void RegisterRoofs(Workbench& bench) {
  for (const int threads : bench.thread_counts()) {
    const auto measure = [&](const char* name, const char* counter, double work, auto rate) {
      benchmark::RegisterBenchmark(fmt::format("{}/threads:{}", name, threads).c_str(),
                                   [=](benchmark::State& state) {
                                     double sum = 0;
                                     for (auto _ : state) {
                                       const double per_s = rate();
                                       sum += 1 / per_s;
                                       state.SetIterationTime(work / per_s);
                                     }
                                     state.counters[counter] =
                                         static_cast<double>(state.iterations()) / sum;
                                   })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    };
    measure("read_roof", "roof_bytes_per_s", static_cast<double>(bench.roof_bytes()),
            [&bench, threads] { return bench.roof().Measure(bench.pool(threads)); });
    // Its time is that of 1e9 operations.
    measure("fma_peak", "fma_flops_per_s", 1e9,
            [&bench, threads] { return MeasureFmaPeak(bench.pool(threads)); });
  }
}

}  // namespace kvbench::micro
