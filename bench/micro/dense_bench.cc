#include <algorithm>
#include <vector>

#include "bench/micro/counters.h"
#include "fmt/format.h"
#include "kernels/cpu/dense.h"

namespace kvbench::micro {
namespace {

// Enough copies of the layer that the weights come from memory, as in a decode step.
void Dense(benchmark::State& state, int64_t in, int64_t out, int64_t rows, int threads) {
  constexpr int64_t kWorkingSet = int64_t{192} << 20;
  std::vector<DenseLayer> layers;
  const int64_t copies = std::clamp<int64_t>(kWorkingSet / (in * out * 4), 1, 256);
  for (int64_t i = 0; i < copies; ++i) layers.emplace_back(in, out, static_cast<uint64_t>(i));
  Buffer x(static_cast<size_t>(rows * in) * sizeof(float));
  Buffer y(static_cast<size_t>(rows * out) * sizeof(float));
  std::fill_n(x.as<float>(), rows * in, 0.5f);
  ThreadPool pool(threads);
  size_t next = 0;
  for (auto _ : state) {
    layers[next].Run(pool, x.as<float>(), rows, y.as<float>());
    next = (next + 1) % layers.size();
  }
  state.counters["weight_bytes_per_s"] = PerSecond(static_cast<double>(in * out * 4));
  state.counters["flops_per_s"] = PerSecond(2.0 * static_cast<double>(in * out * rows));
}

}  // namespace

void RegisterDense() {
  for (const int threads : {1, 2}) {
    for (const auto& [in, out] : {std::pair<int64_t, int64_t>{512, 2816}, {4096, 11008}}) {
      for (const int64_t rows : {1, 4, 8, 16, 32, 64, 256}) {
        const auto name =
            fmt::format("dense/fp32/in:{}/out:{}/rows:{}/threads:{}", in, out, rows, threads);
        benchmark::RegisterBenchmark(name.c_str(), Dense, in, out, rows, threads)->UseRealTime();
      }
    }
  }
}

}  // namespace kvbench::micro
