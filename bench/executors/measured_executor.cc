#include "bench/executors/measured_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/error.h"

namespace kvbench {

namespace {

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

int64_t MeasuredConfig::max_sequences() const {
  return std::min(limits.max_num_seqs, limits.max_num_batched_tokens);
}

void CheckModelKernels(const ModelShape& m, const char* executor, const char* kernels,
                       std::span<const int64_t> head_dims) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("model {}: {}; the {} executor cannot run it", m.name, why, executor));
  };
  if (m.attention == Attention::kMLA) {
    refuse(fmt::format("its MLA attention has no {} kernel (MHA, GQA and MQA have)", kernels));
  }
  if (m.num_sliding_window_layers > 0) {
    refuse(fmt::format("its sliding-window layers have no {} kernel", kernels));
  }
  if (m.num_experts > 0) {
    refuse(fmt::format("its mixture of experts has no {} kernel", kernels));
  }
  if (std::find(head_dims.begin(), head_dims.end(), m.head_dim) == head_dims.end()) {
    std::string dims;
    for (const int64_t& dim : head_dims) {
      const bool last = &dim == &head_dims.back();
      dims += fmt::format("{}{}", dims.empty() ? "" : last ? " and " : ", ", dim);
    }
    refuse(
        fmt::format("its head dim is {}, and the {} kernels have {}", m.head_dim, kernels, dims));
  }
}

void MeasuredExecutor::BeginStep() {
  step_begin_ = Clock::now();
  ranges_.BeginBookkeeping();
}

StepTimes MeasuredExecutor::Run(const StepBatch& batch, const KvCache& cache,
                                int64_t /*equal_steps*/) {
  const Clock::time_point run_begin = Clock::now();
  paused_ = {};
  ranges_.BeginStep(batch.load);
  placement().Place(batch, cache, sequences_);
  StepPhases step;
  WithClockStopped([&] { verifier_.BeginStep(sequences_); });
  RunStep(batch, sequences_, step);
  const Clock::time_point end = Clock::now();
  ranges_.Pop();
  phases_.attention += step.attention;
  phases_.cache_write += step.cache_write;
  phases_.dense += step.dense;
  phases_.bookkeeping += Seconds(run_begin - step_begin_);
  phases_.other +=
      Seconds(end - run_begin - paused_) - step.attention - step.cache_write - step.dense;
  const auto nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(end - step_begin_ - paused_).count();
  return {.first_ps = std::max<int64_t>(nanoseconds, 1) * 1000};
}

void MeasuredExecutor::WarmUp(const KvCache& cache, const EngineLimits& limits) {
  // Nothing is compiled for a shape here; what must be warm are pages, caches, the pool and each
  // kernel's code.
  const int64_t units = cache.capacity_slots() / std::max<int64_t>(cache.block_size(), 16);
  const int64_t prompt = std::min(
      {int64_t{256}, limits.max_num_batched_tokens, limits.max_model_len, cache.capacity_slots()});
  WarmUpStep(cache, 1, prompt);
  const int64_t most =
      std::min({int64_t{64}, units, limits.max_num_seqs, limits.max_num_batched_tokens});
  for (int64_t sequences = 1; sequences <= most; sequences *= 2) {
    WarmUpStep(cache, sequences, 1);
  }
}

void MeasuredExecutor::WarmUpStep(const KvCache& cache, int64_t sequences, int64_t tokens_each) {
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
    sequences_.push_back(placement().Place(slots, i * tokens_each, tokens_each, tokens_each));
  }
  StepPhases ignored;
  RunStep(batch, sequences_, ignored);
}

}  // namespace kvbench
