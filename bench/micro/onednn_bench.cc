// The dense layer of `dense/fp32/in:4096/out:11008/rows:64` by oneDNN, for comparison. Built where
// CMake finds the library.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>
#include <vector>

#include "bench/micro/counters.h"
#include "bench/micro/roof_meter.h"

namespace kvbench::micro {
namespace {

using dnnl::memory;

#if DNNL_CPU_THREADING_RUNTIME != DNNL_RUNTIME_OMP
#error \
    "omp_set_num_threads says how many threads this oneDNN takes only where it is built on OpenMP"
#endif

constexpr int64_t kIn = 4096;
constexpr int64_t kOut = 11008;
constexpr int64_t kRows = 64;

memory::desc Desc(memory::dim outer, memory::dim inner, memory::format_tag tag) {
  return {{outer, inner}, memory::data_type::f32, tag};
}

/// As many layers as fill the working set, taken in turn like those of ours. Their weights are
/// packed once, as the library likes them best for these rows and threads.
class OneDnnLayers {
 public:
  OneDnnLayers(int64_t bytes, int threads) : threads_(threads) {
    omp_set_num_threads(threads);
    const dnnl::inner_product_forward::desc wanted(
        dnnl::prop_kind::forward_inference, Desc(kRows, kIn, memory::format_tag::nc),
        Desc(kOut, kIn, memory::format_tag::any), Desc(kRows, kOut, memory::format_tag::nc));
    const dnnl::inner_product_forward::primitive_desc chosen(wanted, engine_);
    product_ = dnnl::inner_product_forward(chosen);
    const int64_t layer_bytes = kIn * kOut * int64_t{sizeof(float)};
    Buffer plain(static_cast<size_t>(layer_bytes));
    const int64_t count = std::max<int64_t>(1, (bytes + layer_bytes - 1) / layer_bytes);
    for (int64_t i = 0; i < count; ++i) {
      FillPattern(plain.as<void>(), layer_bytes, static_cast<uint64_t>(5 + i));
      memory from(Desc(kOut, kIn, memory::format_tag::oi), engine_, plain.as<void>());
      Buffer& packed = weights_.emplace_back(chosen.weights_desc().get_size());
      memory to(chosen.weights_desc(), engine_, packed.as<void>());
      dnnl::reorder(from, to).execute(stream_, from, to);
      stream_.wait();
      packed_.push_back(std::move(to));
    }
  }

  int64_t weight_bytes() const { return kIn * kOut * int64_t{sizeof(float)}; }

  /// @param x [kRows, kIn] @param y [kRows, kOut]
  double Run(float* x, float* y) {
    omp_set_num_threads(threads_);
    next_ = (next_ + 1) % packed_.size();
    const memory from(Desc(kRows, kIn, memory::format_tag::nc), engine_, x);
    const memory to(Desc(kRows, kOut, memory::format_tag::nc), engine_, y);
    return SecondsOf([&] {
      product_.execute(
          stream_, {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, packed_[next_]}, {DNNL_ARG_DST, to}});
      stream_.wait();
    });
  }

 private:
  int threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::inner_product_forward product_;
  std::vector<Buffer> weights_;
  std::vector<memory> packed_;
  size_t next_ = 0;
};

void Dense(benchmark::State& state, Workbench& bench, std::unique_ptr<OneDnnLayers>& layers,
           int threads) {
  // Made when first asked for and kept for the case's repetitions.
  if (layers == nullptr) {
    layers = std::make_unique<OneDnnLayers>(bench.working_set_bytes(), threads);
  }
  Buffer x(static_cast<size_t>(kRows * kIn) * sizeof(float));
  Buffer y(static_cast<size_t>(kRows * kOut) * sizeof(float));
  FillPattern(x.as<void>(), static_cast<int64_t>(x.size()), 4);
  y.Touch();
  RoofMeter roof(bench, threads);
  layers->Run(x.as<float>(), y.as<float>());  // starts the library's threads
  for (auto _ : state) {
    roof.BeforeIteration();
    const double seconds = layers->Run(x.as<float>(), y.as<float>());
    roof.AfterIteration(layers->weight_bytes(), seconds);
    state.SetIterationTime(seconds);
  }
  state.counters["weight_bytes_per_s"] = PerSecond(static_cast<double>(layers->weight_bytes()));
  state.counters["flops_per_s"] = PerSecond(2.0 * static_cast<double>(kIn * kOut * kRows));
  roof.SetCounters(state);
}

}  // namespace

void RegisterOneDnn(Workbench& bench) {
  for (const int threads : bench.thread_counts()) {
    const auto layers = std::make_shared<std::unique_ptr<OneDnnLayers>>();
    const auto name =
        fmt::format("dense/onednn/in:{}/out:{}/rows:{}/threads:{}", kIn, kOut, kRows, threads);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [&bench, layers, threads](benchmark::State& state) {
                                   Dense(state, bench, *layers, threads);
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace kvbench::micro
