#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/engine/executor.h"
#include "bench/engine/limits.h"
#include "bench/executors/kept_tokens.h"
#include "bench/executors/kv_placement.h"
#include "bench/executors/ranges.h"
#include "bench/executors/verifier.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

/// What a measured run asks of its executor.
struct MeasuredConfig {
  ModelShape model;
  Dtype kv_cache_dtype = Dtype::kFp16;
  Dtype dtype = Dtype::kFp32;
  bool dense = true;
  EngineLimits limits;
  std::string attention_kernel = "auto";  ///< cpu
  Ranges ranges = {};  ///< of the run, for profilers and timelines; may have no sinks

  /// Sequences of a step at most.
  int64_t max_sequences() const;
};

/// Throws Error (kInput) for a model whose attention an executor has no kernels for, naming what it
/// has. @param executor, kernels its name and its kernels' in sentences: "cpu", "CPU"
void CheckModelKernels(const ModelShape& model, const char* executor, const char* kernels,
                       std::span<const int64_t> head_dims);

/// Seconds of a step by what they were spent on.
struct StepPhases {
  double attention = 0;
  double cache_write = 0;
  double dense = 0;
};

/// Where the time of a measured run went, in seconds.
struct PhaseTotals {
  double attention = 0;
  double cache_write = 0;
  double dense = 0;
  double bookkeeping = 0;  ///< from BeginStep to Run: metrics, arrivals, scheduling, cache
  double other = 0;        ///< norms, RoPE, activation, residuals, embedding, placing, operations
};

/// Runs every step for real and says how long it took: from BeginStep to when the machine has done
/// the last of it, without what its outputs' verification took.
class MeasuredExecutor : public Executor {
 public:
  MeasuredExecutor(const MeasuredExecutor&) = delete;
  MeasuredExecutor& operator=(const MeasuredExecutor&) = delete;

  void BeginMeasured() override { ranges_.BeginRun(); }
  void EndMeasured() override { ranges_.EndRun(); }
  void BeginStep() final;
  StepTimes Run(const StepBatch& batch, const KvCache& cache, int64_t equal_steps) final;

  const AttentionVerifier& verifier() const { return verifier_; }
  const KeptTokens& kept_tokens() const { return kept_; }
  const PhaseTotals& phases() const { return phases_; }
  virtual int64_t kv_bytes() const = 0;
  virtual int64_t weight_bytes() const = 0;
  /// Of the registry of kernels, where the executor has one: "rows", or "auto:rows" where it was
  /// chosen by shape and instruction set.
  virtual std::optional<std::string> attention_kernel() const { return std::nullopt; }

 protected:
  MeasuredExecutor(double tolerance, const ModelShape& model, Ranges ranges)
      : verifier_(tolerance),
        kept_(model.num_hidden_layers),
        read_token_(
            [this](int64_t layer, const AttentionSequence& sequence, int32_t position,
                   std::vector<uint8_t>& bytes) { ReadToken(layer, sequence, position, bytes); }),
        ranges_(std::move(ranges)) {}

  Ranges& ranges() { return ranges_; }

  /// Runs a prompt and decodes of several batch sizes on the still empty pools, so that memory is
  /// touched and code is warm when the clock starts.
  void WarmUp(const KvCache& cache, const EngineLimits& limits);

  /// Calls f, which does not count in the step's time.
  template <typename F>
  void WithClockStopped(F&& f) {
    const Clock::time_point begin = Clock::now();
    f();
    paused_ += Clock::now() - begin;
  }
  /// Calls f and says how long it took, without what the clock was stopped for.
  template <typename F>
  double RunningSeconds(F&& f) {
    const Clock::time_point begin = Clock::now();
    const Clock::duration paused = paused_;
    f();
    return std::chrono::duration<double>(Clock::now() - begin - (paused_ - paused)).count();
  }
  /// Checks with the clock stopped: f gets the verifier.
  template <typename F>
  void Verify(F&& f) {
    const ScopedRange range(&ranges_, RangeKind::kVerify, {ranges_.steps() - 1});
    WithClockStopped([&] { f(verifier_); });
  }

 private:
  using Clock = std::chrono::steady_clock;

  virtual const KvPlacement& placement() const = 0;
  /// Runs the batch, whose entries lie at `sequences`, to its end; adds its seconds to `phases`.
  /// Where the verifier wants the step, each layer's attention is checked, with the clock stopped.
  virtual void RunStep(const StepBatch& batch, std::span<const AttentionSequence> sequences,
                       StepPhases& phases) = 0;
  /// Does the operations, one after the other, to their end.
  virtual void Apply(std::span<const Operation> operations) = 0;
  /// Appends K's and V's row of head dim elements that begins at `element` in a layer's arrays, and
  /// their scales.
  virtual void AppendRow(int64_t layer, int64_t element, std::vector<uint8_t>& bytes) = 0;

  /// Does the step's operations and says how long they took.
  double RunOperations(const StepBatch& batch, std::span<const Operation> operations);
  void KeepMovedToken(const StepBatch& batch, std::span<const Operation> operations);
  void CheckKeptTokens(const StepBatch& batch);
  void KeepNewTokens(const StepBatch& batch);
  void ReadToken(int64_t layer, const AttentionSequence& sequence, int32_t position,
                 std::vector<uint8_t>& bytes);
  void WarmUpStep(const KvCache& cache, int64_t sequences, int64_t tokens_each);

  AttentionVerifier verifier_;
  KeptTokens kept_;
  KeptTokens::Read read_token_;
  SampledSteps moves_;  // of the steps with operations, those that a moved token is checked in
  Ranges ranges_;
  std::vector<AttentionSequence> sequences_;
  Clock::time_point step_begin_;
  Clock::duration paused_{};
  PhaseTotals phases_;
};

}  // namespace kvbench
