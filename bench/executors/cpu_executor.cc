#include "bench/executors/cpu_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <string>

#include "workloads/error.h"

namespace kvbench {

namespace {

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

Decoder::Config DecoderConfig(const CpuExecutorConfig& config) {
  return {
      .model = config.model,
      .dense = config.dense,
      .weights = WeightTypeOf(config.dtype),
      .max_tokens = config.limits.max_num_batched_tokens,
      .max_sequences = std::min(config.limits.max_num_seqs, config.limits.max_num_batched_tokens),
      .max_positions = config.limits.max_model_len};
}

Decoder::Config WithRanges(Decoder::Config config, Ranges& ranges) {
  config.ranges = &ranges;
  return config;
}

/// Bytes that the system can still give, from /proc/meminfo; nothing where it cannot be read.
std::optional<int64_t> AvailableMemory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  int64_t kib = 0;
  std::string unit;
  while (file >> key >> kib) {
    std::getline(file, unit);
    if (key == "MemAvailable:") {
      return kib * 1024;
    }
  }
  return std::nullopt;
}

double GiB(int64_t bytes) { return static_cast<double>(bytes) / (int64_t{1} << 30); }

}  // namespace

void CpuExecutor::CheckKernels(const ModelShape& m, Dtype kv_cache_dtype) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("model {}: {}; the cpu executor cannot run it", m.name, why));
  };
  if (m.attention == Attention::kMLA) {
    refuse("its MLA attention has no CPU kernel (MHA, GQA and MQA have)");
  }
  if (m.num_sliding_window_layers > 0) {
    refuse("its sliding-window layers have no CPU kernel");
  }
  if (m.num_experts > 0) {
    refuse("its mixture of experts has no CPU kernel");
  }
  constexpr std::array<int64_t, 5> kHeadDims = {64, 80, 96, 128, 256};
  if (std::find(kHeadDims.begin(), kHeadDims.end(), m.head_dim) == kHeadDims.end()) {
    refuse(fmt::format("its head dim is {}, and the CPU kernels have 64, 80, 96, 128 and 256",
                       m.head_dim));
  }
  if (kv_cache_dtype == Dtype::kFp8) {
    throw Error("--kv-cache-dtype fp8: the cpu executor has float16, bfloat16, float32 and int8");
  }
}

void CpuExecutor::Check(const CpuExecutorConfig& config, const KvCache& cache) {
  const ModelShape& m = config.model;
  CheckKernels(m, config.kv_cache_dtype);
  if (config.dtype != Dtype::kFp32 && config.dtype != Dtype::kBf16) {
    throw Error(fmt::format("--dtype {}: the cpu executor has float32 and bfloat16 weights",
                            DtypeName(config.dtype)));
  }
  const int64_t kv_bytes = KvPools::Bytes(m, KvTypeOf(config.kv_cache_dtype), cache);
  const int64_t needed = kv_bytes + Decoder::Bytes(DecoderConfig(config));
  const std::optional<int64_t> available = AvailableMemory();
  if (available && needed > *available) {
    throw Error(
        fmt::format("model {} needs {:.1f} GiB on this machine ({:.1f} GiB of it KV cache), and "
                    "{:.1f} GiB are free: use a smaller model or --kv-memory",
                    m.name, GiB(needed), GiB(kv_bytes), GiB(*available)),
        Error::Kind::kMachine);
  }
}

CpuExecutor::CpuExecutor(const CpuExecutorConfig& config, const KvCache& cache, ThreadPool& pool)
    : config_(config),
      pools_(config.model, KvTypeOf(config.kv_cache_dtype), cache),
      decoder_(WithRanges(DecoderConfig(config), config_.ranges), pool) {
  WarmUp(cache);
}

void CpuExecutor::BeginStep() {
  step_begin_ = Clock::now();
  config_.ranges.BeginBookkeeping();
}

StepTimes CpuExecutor::Run(const StepBatch& batch, const KvCache& cache, int64_t /*equal_steps*/) {
  const Clock::time_point run_begin = Clock::now();
  Ranges& ranges = config_.ranges;
  ranges.BeginStep(batch.load);
  pools_.Place(batch, cache, sequences_);
  StepPhases step;
  Clock::duration paused{};
  const Clock::time_point choose_begin = Clock::now();
  verifier_.BeginStep(sequences_);
  paused += Clock::now() - choose_begin;
  if (verifier_.wants_step()) {
    decoder_.Run(
        batch, sequences_, pools_,
        [&](const AttentionCall& call) {
          const Clock::time_point begin = Clock::now();
          const ScopedRange range(&ranges, RangeKind::kVerify, {ranges.steps() - 1});
          verifier_.Check(call);
          paused += Clock::now() - begin;
        },
        step);
  } else {
    decoder_.Run(batch, sequences_, pools_, nullptr, step);
  }
  const Clock::time_point end = Clock::now();
  ranges.Pop();
  phases_.attention += step.attention;
  phases_.cache_write += step.cache_write;
  phases_.dense += step.dense;
  phases_.bookkeeping += Seconds(run_begin - step_begin_);
  phases_.other +=
      Seconds(end - run_begin - paused) - step.attention - step.cache_write - step.dense;
  const auto nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(end - step_begin_ - paused).count();
  return {.first_ps = std::max<int64_t>(nanoseconds, 1) * 1000};
}

void CpuExecutor::WarmUp(const KvCache& cache) {
  // Nothing is compiled for a shape here; what must be warm are pages, caches, the pool and each
  // kernel's code.
  const int64_t units = cache.capacity_slots() / std::max<int64_t>(cache.block_size(), 16);
  const int64_t prompt = std::min({int64_t{256}, config_.limits.max_num_batched_tokens,
                                   config_.limits.max_model_len, cache.capacity_slots()});
  WarmUpStep(cache, 1, prompt);
  const int64_t most = std::min(
      {int64_t{64}, units, config_.limits.max_num_seqs, config_.limits.max_num_batched_tokens});
  for (int64_t sequences = 1; sequences <= most; sequences *= 2) {
    WarmUpStep(cache, sequences, 1);
  }
}

void CpuExecutor::WarmUpStep(const KvCache& cache, int64_t sequences, int64_t tokens_each) {
  // The pool is still empty, so its first slots serve: each sequence gets its own.
  const int64_t block = cache.block_size();
  const int64_t blocks_each = block > 0 ? (tokens_each + block - 1) / block : 0;
  std::vector<int32_t> blocks(static_cast<size_t>(sequences * blocks_each));
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i] = static_cast<int32_t>(i);
  }
  StepBatch batch;
  sequences_.clear();
  for (int64_t i = 0; i < sequences; ++i) {
    batch.Add({.sequence = 0,
               .request = i,
               .first_position = 0,
               .count = tokens_each,
               .generates = true});
    SlotView slots;
    if (block > 0) {
      slots.block_size = cache.block_size();
      slots.blocks = std::span(blocks).subspan(static_cast<size_t>(i * blocks_each),
                                               static_cast<size_t>(blocks_each));
    } else {
      slots.chunk_slots = (tokens_each + 15) / 16 * 16;
      slots.first_slot = i * slots.chunk_slots;
    }
    sequences_.push_back(pools_.Place(slots, i * tokens_each, tokens_each, tokens_each));
  }
  StepPhases ignored;
  decoder_.Run(batch, sequences_, pools_, nullptr, ignored);
}

}  // namespace kvbench
