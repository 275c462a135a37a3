#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "bench/micro/counters.h"
#include "bench/micro/roof_meter.h"
#include "kernels/cpu/dense.h"

namespace kvbench::micro {
namespace {

/// As many layers of one shape as fill the working set, taken in turn, so that the weights come
/// from memory as in a decode step. Made when first asked for and kept: a case's repetitions, rows
/// and threads share them.
class Layers {
 public:
  Layers(int64_t in, int64_t out, WeightType type, int64_t bytes)
      : in_(in), out_(out), type_(type), bytes_(bytes) {}

  const DenseLayer& Next() {
    if (layers_.empty()) {
      const int64_t layer_bytes = in_ * out_ * WeightBytes(type_);
      const int64_t count = std::max<int64_t>(1, (bytes_ + layer_bytes - 1) / layer_bytes);
      for (int64_t i = 0; i < count; ++i) {
        layers_.emplace_back(in_, out_, static_cast<uint64_t>(i), type_);
      }
    }
    next_ = (next_ + 1) % layers_.size();
    return layers_[next_];
  }
  int64_t in() const { return in_; }
  int64_t out() const { return out_; }

 private:
  int64_t in_;
  int64_t out_;
  WeightType type_;
  int64_t bytes_;
  std::vector<DenseLayer> layers_;
  size_t next_ = 0;
};

void Dense(benchmark::State& state, Workbench& bench, Layers& layers, int64_t rows, int threads) {
  Buffer x(static_cast<size_t>(rows * layers.in()) * sizeof(float));
  Buffer y(static_cast<size_t>(rows * layers.out()) * sizeof(float));
  FillPattern(x.as<void>(), static_cast<int64_t>(x.size()), 4);
  y.Touch();
  RoofMeter roof(bench, threads);
  ThreadPool& pool = bench.pool(threads);
  const int64_t bytes = layers.Next().weight_bytes();
  for (auto _ : state) {
    const DenseLayer& layer = layers.Next();
    roof.BeforeIteration();
    const double seconds = SecondsOf([&] { layer.Run(pool, x.as<float>(), rows, y.as<float>()); });
    roof.AfterIteration(bytes, seconds);
    state.SetIterationTime(seconds);
  }
  state.counters["weight_bytes_per_s"] = PerSecond(static_cast<double>(bytes));
  state.counters["flops_per_s"] =
      PerSecond(2.0 * static_cast<double>(layers.in() * layers.out() * rows));
  roof.SetCounters(state);
}

}  // namespace

void RegisterDense(Workbench& bench) {
  for (const auto& [in, out, type] :
       {std::tuple<int64_t, int64_t, WeightType>{512, 2816, WeightType::kFp32},
        {4096, 11008, WeightType::kFp32},
        {4096, 11008, WeightType::kBf16}}) {
    const char* const type_name = type == WeightType::kBf16 ? "bf16" : "fp32";
    const auto layers = std::make_shared<Layers>(in, out, type, bench.working_set_bytes());
    for (const int threads : bench.thread_counts()) {
      for (const int64_t rows : {1, 2, 4, 8, 16, 32, 64, 256}) {
        const auto name = fmt::format("dense/{}/in:{}/out:{}/rows:{}/threads:{}", type_name, in,
                                      out, rows, threads);
        benchmark::RegisterBenchmark(name.c_str(),
                                     [&bench, layers, rows, threads](benchmark::State& state) {
                                       Dense(state, bench, *layers, rows, threads);
                                     })
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
}

}  // namespace kvbench::micro
