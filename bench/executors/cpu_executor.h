#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/engine/executor.h"
#include "bench/engine/limits.h"
#include "bench/executors/decoder.h"
#include "bench/executors/kv_pools.h"
#include "bench/executors/ranges.h"
#include "bench/executors/verifier.h"
#include "kernels/cpu/thread_pool.h"
#include "workloads/model_shape.h"

namespace kvbench {

struct CpuExecutorConfig {
  ModelShape model;
  Dtype kv_cache_dtype = Dtype::kFp16;
  Dtype dtype = Dtype::kFp32;
  bool dense = true;
  EngineLimits limits;
  Ranges ranges = {};  ///< of the run, for profilers and timelines; may have no sinks
};

/// Where the time of a measured run went, in seconds.
struct PhaseTotals {
  double attention = 0;
  double cache_write = 0;
  double dense = 0;
  double bookkeeping = 0;  ///< from BeginStep to Run: metrics, arrivals, scheduling, cache
  double other = 0;        ///< norms, RoPE, activation, residuals, embedding, placing
};

/// Runs every step for real on this machine's CPU and says how long it took.
class CpuExecutor final : public Executor {
 public:
  /// Throws Error: (kInput) for a model or dtype that has no CPU kernels, naming what has;
  /// (kMachine) where the memory does not suffice, naming what is needed and what is there.
  static void Check(const CpuExecutorConfig& config, const KvCache& cache);
  /// The part of it that is about model and KV dtype. Throws Error (kInput).
  static void CheckKernels(const ModelShape& model, Dtype kv_cache_dtype);

  /// Allocates and touches pools and weights, and warms up. `pool` and `cache` must outlive the
  /// executor.
  CpuExecutor(const CpuExecutorConfig& config, const KvCache& cache, ThreadPool& pool);
  CpuExecutor(const CpuExecutor&) = delete;
  CpuExecutor& operator=(const CpuExecutor&) = delete;

  void BeginMeasured() override { config_.ranges.BeginRun(); }
  void EndMeasured() override { config_.ranges.EndRun(); }
  void BeginStep() override;
  StepTimes Run(const StepBatch& batch, const KvCache& cache, int64_t equal_steps) override;

  const AttentionVerifier& verifier() const { return verifier_; }
  const PhaseTotals& phases() const { return phases_; }
  int64_t kv_bytes() const { return pools_.bytes(); }
  int64_t weight_bytes() const { return decoder_.weight_bytes(); }

 private:
  using Clock = std::chrono::steady_clock;

  void WarmUp(const KvCache& cache);
  void WarmUpStep(const KvCache& cache, int64_t sequences, int64_t tokens_each);

  CpuExecutorConfig config_;
  KvPools pools_;
  Decoder decoder_;
  AttentionVerifier verifier_;
  std::vector<AttentionSequence> sequences_;
  Clock::time_point step_begin_;
  PhaseTotals phases_;
};

}  // namespace kvbench
