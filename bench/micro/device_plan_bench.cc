#include <fmt/format.h>

#include <numeric>
#include <random>
#include <vector>

#include "bench/micro/counters.h"
#include "kernels/cuda/attention_plan.h"

namespace kvbench::micro {
namespace {

constexpr int32_t kMeanContext = 1024;
/// CTAs that a GPU of today runs at once: 132 multiprocessors, four each.
constexpr int32_t kCtaBudget = 4 * 132;

/// The work list of a step of decodes for a GPU, as DeviceAttention asks for it every step; block
/// tables are copied into one list. @param block_size 0: contiguous
void DevicePlan(benchmark::State& state, int32_t block_size, int batch) {
  std::mt19937 random(1);
  std::vector<int32_t> blocks(2 * kMeanContext);
  std::iota(blocks.begin(), blocks.end(), 0);
  std::vector<AttentionSequence> sequences(static_cast<size_t>(batch));
  for (size_t i = 0; i < sequences.size(); ++i) {
    sequences[i] = {.first_query = static_cast<int64_t>(i),
                    .num_queries = 1,
                    .context = static_cast<int32_t>(1 + random() % (2 * kMeanContext)),
                    .blocks = blocks.data()};
  }
  DeviceAttentionPlan plan;
  for (auto _ : state) {
    plan.Build(sequences, {.num_heads = 32,
                           .num_kv_heads = 8,
                           .paged = block_size > 0,
                           .block_size = block_size,
                           .cta_budget = kCtaBudget});
    benchmark::DoNotOptimize(plan.items().data());
  }
  state.counters["ns_per_plan"] = benchmark::Counter(
      1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["sequences_per_s"] = PerSecond(batch);
}

}  // namespace

void RegisterDevicePlan() {
  for (const int32_t block_size : {0, 1, 16}) {
    const std::string layout =
        block_size == 0 ? "contiguous" : fmt::format("paged/block:{}", block_size);
    for (int batch = 1; batch <= 256; batch *= 4) {
      const auto name = fmt::format("plan/device/{}/batch:{}", layout, batch);
      benchmark::RegisterBenchmark(name.c_str(), DevicePlan, block_size, batch)->UseRealTime();
    }
  }
}

}  // namespace kvbench::micro
