#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "bench/micro/counters.h"
#include "bench/micro/fma_peak.h"
#include "bench/micro/kv_case.h"
#include "bench/micro/roof_meter.h"
#include "kernels/cpu/attention_kernel.h"
#include "kernels/cpu/attention_plan.h"

namespace kvbench::micro {
namespace {

/// fp32 sums, and values that are exact in every type: a wrong key or weight is far above it.
constexpr double kTolerance = 1e-3;

std::string HeadsName(const KvShape& shape) {
  return fmt::format("{}/kv_heads:{}/group:{}/head_dim:{}{}", shape.LayoutName(),
                     shape.num_kv_heads, shape.group, shape.head_dim,
                     shape.kernel == "auto" ? "" : "/kernel:" + shape.kernel);
}

/// Runs a case's attention, batch after batch; `before` is called with the clock stopped, `after`
/// with an iteration's seconds.
template <typename Before, typename After>
void RunAttention(benchmark::State& state, KvCase& work, CpuAttention& attention, int threads,
                  const Before& before, const After& after) {
  AttentionPlan plan;  // says nothing of where a sequence lies: the same for all batches
  const AttentionCall& call = work.attention();
  plan.Build(call.sequences, {call.num_heads, call.num_kv_heads, threads});
  attention.Run(call, plan);
  if (const double error = work.OutputError(); !(error <= kTolerance)) {
    state.SkipWithError(fmt::format("wrong output: relative error {}", error).c_str());
    return;
  }
  for (auto _ : state) {
    work.Next();
    before();
    const double seconds = SecondsOf([&] { attention.Run(call, plan); });
    after(seconds);
    state.SetIterationTime(seconds);
  }
}

void Decode(benchmark::State& state, Workbench& bench, const KvShape& shape, int threads) {
  KvCase work(shape, bench);
  RoofMeter roof(bench, threads);
  RunAttention(
      state, work, bench.attention(threads, shape.kernel), threads, [&] { roof.BeforeIteration(); },
      [&](double seconds) { roof.AfterIteration(work.kv_bytes(), seconds); });
  state.counters["kv_bytes_per_s"] = PerSecond(static_cast<double>(work.kv_bytes()));
  state.counters["tokens_per_s"] = PerSecond(shape.batch);
  roof.SetCounters(state);
}

void Prefill(benchmark::State& state, Workbench& bench, const KvShape& shape, int threads) {
  KvCase work(shape, bench);
  const double flops = 4.0 * shape.head_dim * work.visible_keys();
  double peaks = 0;
  double seconds_of_all = 0;
  RunAttention(
      state, work, bench.attention(threads, shape.kernel), threads,
      [&] { peaks += MeasureFmaPeak(bench.pool(threads)); },
      [&](double seconds) { seconds_of_all += seconds; });
  const auto iterations = static_cast<double>(state.iterations());
  state.counters["flops_per_s"] = PerSecond(flops);
  state.counters["tokens_per_s"] = PerSecond(1.0 * shape.batch * shape.queries);
  state.counters["fma_flops_per_s"] = peaks / iterations;
  state.counters["fma_share"] = flops * iterations / seconds_of_all / (peaks / iterations);
}

/// A case that this machine's memory is too small for says so, and the others run.
template <typename Run>
void Register(Workbench& bench, const std::string& name, const KvShape& shape, int threads,
              const Run& run) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [&bench, shape, threads, run](benchmark::State& state) {
                                 try {
                                   run(state, bench, shape, threads);
                                 } catch (const Error& error) {
                                   state.SkipWithError(error.what());
                                 }
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

/// The base case, and what lies one axis away from it.
std::vector<KvShape> DecodeShapes() {
  std::vector<KvShape> shapes;
  const KvShape base;
  const auto add = [&](auto change) {
    KvShape shape = base;
    change(shape);
    shapes.push_back(shape);
  };
  constexpr Placement kTwo[] = {Placement::kContiguousPadded, Placement::kPagedShuffled};
  for (const Placement placement :
       {Placement::kContiguousPadded, Placement::kContiguousUnpadded, Placement::kPagedIdentity,
        Placement::kPagedShuffled, Placement::kPagedAged}) {
    add([&](KvShape& s) { s.placement = placement; });
  }
  for (const int32_t block_size : {1, 2, 4, 8, 32, 64, 128, 256}) {
    add([&](KvShape& s) { s.block_size = block_size; });
  }
  for (const Placement placement : kTwo) {
    for (const int32_t group : {4, 8}) {
      add([&](KvShape& s) { s.placement = placement, s.group = group; });
    }
    for (const KvType type : {KvType::kBf16, KvType::kFp32, KvType::kInt8}) {
      add([&](KvShape& s) { s.placement = placement, s.kv_type = type; });
    }
    // MQA with few bytes a token, and MHA of a 7B model.
    add([&](KvShape& s) {
      s.placement = placement, s.num_kv_heads = 1, s.group = 8, s.batch = 64;
    });
    add([&](KvShape& s) { s.placement = placement, s.num_kv_heads = 32, s.batch = 4; });
    for (const int32_t head_dim : {64, 80, 96, 256}) {
      add([&](KvShape& s) { s.placement = placement, s.head_dim = head_dim; });
    }
    add([&](KvShape& s) { s.placement = placement, s.context = 128, s.batch = 128; });
    add([&](KvShape& s) { s.placement = placement, s.context = 4096, s.batch = 4; });
    // One long sequence, split over the threads: 512 MiB of K and V.
    add([&](KvShape& s) {
      s.placement = placement, s.num_kv_heads = 32, s.context = 32768, s.batch = 1;
    });
    for (const int32_t batch : {1, 4, 64}) {
      add([&](KvShape& s) { s.placement = placement, s.batch = batch; });
    }
  }
  // Each kernel on what the base case and larger groups are: auto is among the shapes above.
  for (const CpuAttentionKernel* kernel : CpuAttentionKernels()) {
    for (const Placement placement : kTwo) {
      for (const int32_t group : {1, 4, 8}) {
        if (!kernel->supports({base.kv_type, group, base.head_dim})) continue;
        add([&](KvShape& s) {
          s.placement = placement, s.group = group, s.kernel = std::string(kernel->name);
        });
      }
    }
  }
  return shapes;
}

std::vector<KvShape> PrefillShapes() {
  std::vector<KvShape> shapes;
  for (const Placement placement : {Placement::kContiguousPadded, Placement::kPagedShuffled}) {
    KvShape prompt;
    prompt.placement = placement;
    prompt.context = prompt.queries = 2048;
    prompt.batch = 1;
    shapes.push_back(prompt);
    KvShape shape = prompt;
    shape.num_kv_heads = 2;
    shape.group = 4;
    shapes.push_back(shape);
    shape = prompt;
    shape.context = shape.queries = 256;
    shape.batch = 8;
    shapes.push_back(shape);
    shape = prompt;  // a chunk at the end of it
    shape.queries = 256;
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace

void RegisterAttention(Workbench& bench) {
  for (const int threads : bench.thread_counts()) {
    for (const KvShape& shape : DecodeShapes()) {
      Register(bench,
               fmt::format("decode/{}/context:{}/batch:{}/threads:{}", HeadsName(shape),
                           shape.context, shape.batch, threads),
               shape, threads, Decode);
    }
    for (const KvShape& shape : PrefillShapes()) {
      Register(bench,
               fmt::format("prefill/{}/context:{}/prompt:{}/batch:{}/threads:{}", HeadsName(shape),
                           shape.context, shape.queries, shape.batch, threads),
               shape, threads, Prefill);
    }
  }
}

}  // namespace kvbench::micro
