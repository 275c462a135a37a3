#include "bench/micro/counters.h"
#include "bench/micro/decode_case.h"
#include "fmt/format.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/block_copy.h"
#include "kernels/cpu/kv_write.h"

namespace kvbench::micro {
namespace {

// One new token for each of many sequences, as a decode step writes them.
void WriteTokens(benchmark::State& state, const DecodeShape& shape, int threads) {
  const DecodeCase step(shape);
  ThreadPool pool(threads);
  for (auto _ : state) WriteKv(pool, step.write());
  const double token = 2.0 * shape.num_kv_heads * shape.head_dim * KvTypeBytes(shape.kv_type);
  state.counters["kv_bytes_per_s"] = PerSecond(token * shape.batch);
  state.counters["tokens_per_s"] = PerSecond(shape.batch);
}

void Copy(benchmark::State& state, int64_t block_bytes, int threads) {
  constexpr int64_t kPoolBytes = int64_t{256} << 20;
  Buffer memory(static_cast<size_t>(kPoolBytes));
  memory.Touch();
  const auto blocks = static_cast<int32_t>(kPoolBytes / block_bytes);
  std::vector<BlockPair> pairs;
  for (int32_t i = 0; i < blocks / 2; ++i) pairs.push_back({i, blocks - 1 - i});
  void* const pools[] = {memory.as<void>()};
  ThreadPool pool(threads);
  for (auto _ : state) CopyBlocks(pool, pools, block_bytes, pairs);
  state.counters["copied_bytes_per_s"] =
      PerSecond(static_cast<double>(block_bytes) * static_cast<double>(pairs.size()));
}

void Plan(benchmark::State& state, int batch, int threads) {
  std::vector<AttentionSequence> sequences(static_cast<size_t>(batch));
  for (size_t i = 0; i < sequences.size(); ++i) {
    sequences[i].num_queries = 1;
    sequences[i].context = static_cast<int32_t>(1 + i * 977 % 2048);
  }
  AttentionPlan plan;
  for (auto _ : state) {
    plan.Build(sequences, {8, 8, threads});
    benchmark::DoNotOptimize(plan.items().data());
  }
}

}  // namespace

void RegisterKv() {
  for (const int threads : {1, 2}) {
    for (const int32_t block : {0, 16}) {
      DecodeShape shape;
      shape.block_size = block;
      shape.batch = 256;
      shape.context = 64;
      const auto name = fmt::format("kv_write/{}/fp16/batch:256/threads:{}",
                                    block == 0 ? "contiguous" : "paged/block:16", threads);
      benchmark::RegisterBenchmark(name.c_str(), WriteTokens, shape, threads)->UseRealTime();
    }
    for (const int64_t bytes : {2048, 16384, 131072}) {
      const auto name = fmt::format("block_copy/bytes:{}/threads:{}", bytes, threads);
      benchmark::RegisterBenchmark(name.c_str(), Copy, bytes, threads)->UseRealTime();
    }
    const auto name = fmt::format("plan/batch:256/threads:{}", threads);
    benchmark::RegisterBenchmark(name.c_str(), Plan, 256, threads);
  }
}

}  // namespace kvbench::micro
