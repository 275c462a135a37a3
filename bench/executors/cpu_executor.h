#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/executors/decoder.h"
#include "bench/executors/kv_pools.h"
#include "bench/executors/measured_executor.h"
#include "kernels/cpu/thread_pool.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

/// Runs every step for real on this machine's CPU and says how long it took.
class CpuExecutor final : public MeasuredExecutor {
 public:
  /// fp32 sums over some thousand keys stay well below this share of an output row's largest
  /// element; a wrong key or weight is far above it.
  static constexpr double kTolerance = 1e-4;

  /// Throws Error: (kInput) for a model, a dtype or an attention kernel that does not fit, naming
  /// what does;
  /// (kMachine) where the memory does not suffice, naming what is needed and what is there.
  static void Check(const MeasuredConfig& config, const KvCache& cache);
  /// The part of it that is about model and KV dtype. Throws Error (kInput).
  static void CheckKernels(const ModelShape& model, Dtype kv_cache_dtype);

  /// Allocates and touches pools and weights, and warms up. `pool` and `cache` must outlive the
  /// executor.
  CpuExecutor(const MeasuredConfig& config, const KvCache& cache, ThreadPool& pool);

  int64_t kv_bytes() const override { return pools_.bytes(); }
  int64_t weight_bytes() const override { return decoder_.weight_bytes(); }
  std::optional<std::string> attention_kernel() const override { return attention_kernel_; }

 private:
  const KvPlacement& placement() const override { return pools_; }
  void RunStep(const StepBatch& batch, std::span<const AttentionSequence> sequences,
               StepPhases& phases) override;
  void Apply(std::span<const Operation> operations) override;
  void AppendRow(int64_t layer, int64_t element, std::vector<uint8_t>& bytes) override;

  std::string attention_kernel_;
  ThreadPool& pool_;
  KvPools pools_;
  Decoder decoder_;
};

}  // namespace kvbench
