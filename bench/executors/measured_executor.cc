#include "bench/executors/measured_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/error.h"
#include "kernels/reference/attention.h"

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
  WithClockStopped([&] {
    verifier_.BeginStep(sequences_);
    kept_.Forget(batch);
  });
  const double operations = RunOperations(batch, cache.operations());
  RunStep(batch, sequences_, step);
  if (verifier_.wants_step()) {
    WithClockStopped([&] {
      CheckKeptTokens(batch);
      KeepNewTokens(batch);
    });
  }
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
  return {.first_ps = std::max<int64_t>(nanoseconds, 1) * 1000,
          .operations_ps = static_cast<int64_t>(operations * 1e12)};
}

double MeasuredExecutor::RunOperations(const StepBatch& batch,
                                       std::span<const Operation> operations) {
  if (operations.empty()) {
    return 0;
  }
  const bool sampled = moves_.Next();
  if (sampled) {
    WithClockStopped([&] { KeepMovedToken(batch, operations); });
  }
  const double seconds = RunningSeconds([&] { Apply(operations); });
  if (sampled) {
    WithClockStopped([&] { CheckKeptTokens(batch); });
  }
  return seconds;
}

/// One that an operation is about to copy, from where it lies.
void MeasuredExecutor::KeepMovedToken(const StepBatch& batch,
                                      std::span<const Operation> operations) {
  const Operation& operation =
      operations[static_cast<size_t>(kept_.Draw(static_cast<int64_t>(operations.size())))];
  for (const StepEntry& entry : batch.entries) {
    if (entry.sequence == operation.sequence && entry.first_position > 0) {
      kept_.Keep(entry, static_cast<int32_t>(kept_.Draw(entry.first_position)),
                 placement().Place(operation.from), read_token_);
    }
  }
}

void MeasuredExecutor::CheckKeptTokens(const StepBatch& batch) {
  if (!kept_.Check(batch, sequences_, read_token_)) {
    verifier_.Fail();
  }
}

/// Those that the step's attention is checked at.
void MeasuredExecutor::KeepNewTokens(const StepBatch& batch) {
  for (const AttentionVerifier::Row& row : verifier_.rows()) {
    const auto index = static_cast<size_t>(row.sequence);
    const StepEntry& entry = batch.entries[index];
    kept_.Keep(entry, static_cast<int32_t>(entry.first_position) + row.query, sequences_[index],
               read_token_);
  }
}

void MeasuredExecutor::ReadToken(int64_t layer, const AttentionSequence& sequence, int32_t position,
                                 std::vector<uint8_t>& bytes) {
  KvLayout layout = placement().layout();
  layout.block_size = sequence.blocks != nullptr ? layout.block_size : 0;
  bytes.clear();
  for (int32_t head = 0; head < placement().num_kv_heads(); ++head) {
    AppendRow(layer, KvElementOffset(layout, sequence, head, position), bytes);
  }
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
