#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "base/error.h"
#include "bench/micro/counters.h"
#include "bench/micro/kv_case.h"
#include "bench/micro/roof_meter.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/block_copy.h"
#include "kernels/cpu/kv_write.h"

namespace kvbench::micro {
namespace {

/// The new tokens of many sequences, as a step writes them.
void Write(benchmark::State& state, Workbench& bench, const KvShape& shape, int threads) {
  KvCase work(shape, bench);
  RoofMeter roof(bench, threads);
  ThreadPool& pool = bench.pool(threads);
  const int64_t bytes = work.written_bytes();
  for (auto _ : state) {
    work.Next();
    const KvWriteCall& call = work.write();
    roof.BeforeIteration();
    const double seconds = SecondsOf([&] { WriteKv(pool, call); });
    roof.AfterIteration(bytes, seconds);
    state.SetIterationTime(seconds);
  }
  state.counters["kv_bytes_per_s"] = PerSecond(static_cast<double>(bytes));
  state.counters["tokens_per_s"] = PerSecond(1.0 * shape.batch * shape.queries);
  roof.SetCounters(state);
}

/// Blocks of both arenas, in random order: what preemption by swapping or copy on write moves.
void Copy(benchmark::State& state, Workbench& bench, int64_t block_bytes, int threads) {
  constexpr int64_t kBytes = int64_t{16} << 20;  // of an iteration
  RoofMeter roof(bench, threads);
  ThreadPool& pool = bench.pool(threads);
  const auto num_blocks = static_cast<int32_t>(bench.arena_bytes() / block_bytes);
  std::vector<int32_t> order(static_cast<size_t>(num_blocks));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  const auto count = static_cast<size_t>(kBytes / 2 / block_bytes);
  std::vector<BlockPair> pairs(count);
  void* const pools[] = {bench.k(), bench.v()};
  const int64_t bytes = 2 * block_bytes * static_cast<int64_t>(count);
  size_t next = 0;
  for (auto _ : state) {
    next = next + 2 * count <= order.size() ? next : 0;
    for (BlockPair& pair : pairs) {
      pair = {order[next], order[next + 1]};
      next += 2;
    }
    roof.BeforeIteration();
    const double seconds = SecondsOf([&] { CopyBlocks(pool, pools, block_bytes, pairs); });
    roof.AfterIteration(bytes, seconds);
    state.SetIterationTime(seconds);
  }
  state.counters["copied_bytes_per_s"] = PerSecond(static_cast<double>(bytes));
  roof.SetCounters(state);
}

/// The work list of a step of decodes with random contexts, and of some prompts among them.
void Plan(benchmark::State& state, int prompts, int batch, int group, int threads) {
  std::mt19937 random(1);
  std::vector<AttentionSequence> sequences(static_cast<size_t>(batch));
  for (size_t i = 0; i < sequences.size(); ++i) {
    sequences[i].context = static_cast<int32_t>(1 + random() % 2048);
    sequences[i].num_queries = i < static_cast<size_t>(prompts) ? sequences[i].context : 1;
  }
  AttentionPlan plan;
  for (auto _ : state) {
    plan.Build(sequences, {8 * group, 8, threads});
    benchmark::DoNotOptimize(plan.items().data());
  }
  state.counters["sequences_per_s"] = PerSecond(batch);
}

std::vector<KvShape> WriteShapes() {
  KvShape decode;
  decode.context = 16;
  decode.batch = 256;
  KvShape prompt;
  prompt.context = prompt.queries = 512;
  prompt.batch = 4;
  std::vector<KvShape> shapes;
  for (KvShape shape : {decode, prompt}) {
    for (const Placement placement : {Placement::kContiguousPadded, Placement::kPagedShuffled}) {
      shape.placement = placement;
      for (const KvType type : {KvType::kFp16, KvType::kBf16, KvType::kFp32, KvType::kInt8}) {
        shape.kv_type = type;
        shapes.push_back(shape);
      }
    }
  }
  return shapes;
}

}  // namespace

void RegisterKv(Workbench& bench) {
  for (const int threads : bench.thread_counts()) {
    for (const KvShape& shape : WriteShapes()) {
      const auto name = fmt::format(
          "kv_write/{}/kv_heads:{}/head_dim:{}/tokens:{}/batch:{}/threads:{}", shape.LayoutName(),
          shape.num_kv_heads, shape.head_dim, shape.queries, shape.batch, threads);
      benchmark::RegisterBenchmark(name.c_str(),
                                   [&bench, shape, threads](benchmark::State& state) {
                                     try {
                                       Write(state, bench, shape, threads);
                                     } catch (const Error& error) {
                                       state.SkipWithError(error.what());
                                     }
                                   })
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
    for (const int64_t bytes : {2048, 16384, 131072}) {
      const auto name = fmt::format("block_copy/bytes:{}/threads:{}", bytes, threads);
      benchmark::RegisterBenchmark(
          name.c_str(),
          [&bench, bytes, threads](benchmark::State& state) { Copy(state, bench, bytes, threads); })
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
    for (const int prompts : {0, 8}) {
      for (const int batch : {8, 256}) {
        for (const int group : {1, 8}) {
          const auto name = fmt::format("plan/prompts:{}/batch:{}/group:{}/threads:{}", prompts,
                                        batch, group, threads);
          benchmark::RegisterBenchmark(name.c_str(), Plan, prompts, batch, group, threads)
              ->UseRealTime();
        }
      }
    }
  }
}

}  // namespace kvbench::micro
