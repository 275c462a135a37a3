#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/executors/device_copies.h"
#include "bench/executors/device_decoder.h"
#include "bench/executors/device_pools.h"
#include "bench/executors/fetched_row.h"
#include "bench/executors/measured_executor.h"
#include "kernels/cuda/device.h"

namespace kvbench {

/// Runs every step for real on a device: a GPU, or in tests the simulator. A step lasts from
/// BeginStep, on the host's clock, to when the host has seen that the device has done the last of
/// it. What the device spends in a phase is taken by events, which cost time themselves: one step
/// in kTimedSteps has them, and the steps up to the next are split in the same shares, those with
/// prompts and those without each by their own.
class CudaExecutor final : public MeasuredExecutor {
 public:
  static constexpr int64_t kTimedSteps = 16;

  /// What an output row may differ from the reference, as a share of its largest element: K, V and
  /// what tensor cores take of the queries and weights have 16 bits.
  static constexpr double Tolerance(KvType type) { return type == KvType::kBf16 ? 1e-2 : 2e-3; }

  /// Throws Error: (kInput) for a model or dtype that has no CUDA kernels, naming what has;
  /// (kMachine) where the device's memory does not suffice, naming what is needed, what is free and
  /// the largest --kv-memory that would fit.
  static void Check(const MeasuredConfig& config, const KvCache& cache, Device& device);
  /// The part of it that needs no device. Throws Error (kInput).
  static void CheckKernels(const MeasuredConfig& config);

  /// Allocates pools and weights, and warms up. `device` and `cache` must outlive the executor.
  /// Throws Error (kMachine) as Check does.
  CudaExecutor(const MeasuredConfig& config, const KvCache& cache, Device& device);

  /// The region that profilers catch is the measured one.
  void BeginMeasured() override;
  void EndMeasured() override;

  int64_t kv_bytes() const override { return pools_.bytes(); }
  int64_t weight_bytes() const override { return decoder_.weight_bytes(); }

 private:
  /// Steps with or without prompts.
  struct StepKind {
    int64_t steps = 0;
    StepPhases shares;  // of the last timed step
  };

  const KvPlacement& placement() const override { return pools_; }
  void RunStep(const StepBatch& batch, std::span<const AttentionSequence> sequences,
               StepPhases& phases) override;
  void Apply(std::span<const Operation> operations) override;
  void AppendRow(int64_t layer, int64_t element, std::vector<uint8_t>& bytes) override;
  void CheckRows(const AttentionCall& on_device);

  Device& device_;
  DevicePools pools_;
  DeviceDecoder decoder_;
  std::optional<DeviceCopies> copies_;  // where the design acts
  FetchedRow fetched_;
  StepKind kinds_[2];
};

}  // namespace kvbench
