#include <chrono>
#include <string>

#include "bench/micro/counters.h"
#include "bench/micro/decode_case.h"
#include "fmt/format.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/read_roof.h"

namespace kvbench::micro {
namespace {

constexpr size_t kRoofBytes = size_t{256} << 20;

std::string Name(const DecodeShape& shape, int threads) {
  const char* const type = shape.kv_type == KvType::kFp16   ? "fp16"
                           : shape.kv_type == KvType::kBf16 ? "bf16"
                                                            : "fp32";
  const std::string layout = shape.block_size > 0 ? fmt::format("paged/block:{}", shape.block_size)
                             : shape.head_stride == HeadStride::kPadded ? "contiguous/padded"
                                                                        : "contiguous/unpadded";
  return fmt::format("decode/{}/{}/kv_heads:{}/group:{}/head_dim:{}/context:{}/batch:{}/threads:{}",
                     layout, type, shape.num_kv_heads, shape.group, shape.head_dim, shape.context,
                     shape.batch, threads);
}

// Useful KV bytes/s, tokens/s, and the share of the read roof, which is measured between the
// iterations.
void Decode(benchmark::State& state, const DecodeShape& shape, int threads) {
  const DecodeCase step(shape);
  ThreadPool pool(threads);
  CpuAttention attention(pool);
  AttentionPlan plan;
  plan.Build(step.sequences(), {shape.num_kv_heads * shape.group, shape.num_kv_heads, threads});
  ReadRoof roof(kRoofBytes);
  attention.Run(step.attention(), plan);
  double roof_seconds = 0;
  double seconds = 0;
  for (auto _ : state) {
    roof_seconds += static_cast<double>(kRoofBytes) / roof.Measure(pool);
    const auto start = std::chrono::steady_clock::now();
    attention.Run(step.attention(), plan);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    seconds += taken.count();
    state.SetIterationTime(taken.count());
  }
  const auto bytes = static_cast<double>(AttentionKvBytes(step.attention()));
  state.counters["kv_bytes_per_s"] = PerSecond(bytes);
  state.counters["tokens_per_s"] = PerSecond(shape.batch);
  state.counters["roof_share"] = bytes / static_cast<double>(kRoofBytes) * roof_seconds / seconds;
}

// Sequences of `context` tokens until the KV is larger than any last-level cache.
int32_t BatchFor(const DecodeShape& shape) {
  constexpr int64_t kWorkingSet = int64_t{384} << 20;
  const int64_t token =
      2 * int64_t{shape.num_kv_heads} * shape.head_dim * KvTypeBytes(shape.kv_type);
  return static_cast<int32_t>(std::max<int64_t>(1, kWorkingSet / (token * shape.context)));
}

void Register(DecodeShape shape, int threads) {
  if (shape.batch == 0) shape.batch = BatchFor(shape);
  benchmark::RegisterBenchmark(Name(shape, threads).c_str(), Decode, shape, threads)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

void RegisterAttention() {
  DecodeShape base;
  base.batch = 0;
  base.head_dim = 128;
  for (const int threads : {1, 2}) {
    for (const int32_t group : {1, 4, 8}) {
      for (const int32_t block : {0, 16}) {
        DecodeShape shape = base;
        shape.group = group;
        shape.block_size = block;
        Register(shape, threads);
      }
    }
    DecodeShape unpadded = base;
    unpadded.head_stride = HeadStride::kUnpadded;
    Register(unpadded, threads);
    for (const int32_t block : {1, 2, 4, 8, 32, 64, 128, 256}) {
      DecodeShape shape = base;
      shape.block_size = block;
      Register(shape, threads);
    }
    for (const KvType type : {KvType::kBf16, KvType::kFp32}) {
      DecodeShape shape = base;
      shape.kv_type = type;
      shape.block_size = 16;
      Register(shape, threads);
    }
    for (const int32_t head_dim : {64, 80, 96, 256}) {
      DecodeShape shape = base;
      shape.head_dim = head_dim;
      shape.block_size = 16;
      Register(shape, threads);
    }
    DecodeShape one_long = base;
    one_long.block_size = 16;
    one_long.context = 32768;
    one_long.batch = 1;
    Register(one_long, threads);
  }
}

}  // namespace kvbench::micro
