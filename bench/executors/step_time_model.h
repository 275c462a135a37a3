#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bench/engine/executor.h"
#include "bench/engine/step_batch.h"
#include "cache/operation.h"
#include "workloads/hardware/calibration.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

/// How long a step takes by a roofline, every term an integer number of picoseconds:
///
///   dense       max(weights / weight bandwidth, tokens * FLOPs a token / dense FLOP/s)
///   decode      contexts * max(KV bytes a token / KV bandwidth, attention FLOPs / FLOP/s)
///   prefill     max(contexts * KV bytes a token / KV bandwidth, pairs * attention FLOPs / FLOP/s)
///   KV write    tokens * KV bytes a token / write bandwidth
///   operations  tokens * KV bytes a token / KV bandwidth, read and written, and for each operation
///               the launches of its pieces (K and V of each layer)
///   overheads   once a step, for each sequence, and for each that decodes
///   all-reduce  two a layer over [tokens, hidden] of every step, for tensor parallelism
///
/// Of routed experts only those are read that some token of the step picks, evenly and
/// independently. Weights are read once a step (batching's gain), KV of every sequence by itself
/// (its limit). Dense FLOPs are 2 a parameter and token; attention's are 4 x head_dim a query head
/// and key. All rates are those of one device, which holds 1 / tensor_parallel of weights and KV
/// heads. While sequences decode in step every context grows by one token a step, and so the time
/// by a constant.
struct StepTimeModel {
  int64_t weights_ps = 0;         ///< reading them once, routed experts apart
  int64_t experts_ps = 0;         ///< reading all routed experts once
  double expert_skipped = 0;      ///< share of the experts that one token does not pick
  int64_t dense_token_ps = 0;     ///< computing one token
  int64_t kv_read_token_ps = 0;   ///< reading one token's K and V of a context
  int64_t attention_pair_ps = 0;  ///< one query token and one key, all heads and layers
  int64_t kv_write_token_ps = 0;
  int64_t all_reduce_token_ps = 0;
  int64_t copy_token_ps = 0;  ///< copying one token's K and V to another slot
  int64_t operation_ps = 0;   ///< starting the copies of one operation
  int64_t step_ps = 0;        ///< once a step
  int64_t sequence_ps = 0;
  int64_t decode_ps = 0;  ///< for each sequence that decodes, besides its context

  /// Points of a measured curve, (tokens, ps) ascending; in between on straight lines, beyond the
  /// last in proportion. Where there are none, the lines above hold.
  using Curve = std::vector<std::pair<int64_t, int64_t>>;
  Curve dense_curve;         ///< by tokens of the step: all layers but attention
  Curve head_curve;          ///< by tokens that generate: the LM head
  Curve prefill_pair_curve;  ///< by tokens of a prompt or chunk: ps of one pair times the tokens

  int64_t ReadExpertsPs(int64_t tokens) const;
  int64_t DensePs(const StepLoad& load) const;
  int64_t PrefillPs(const StepLoad& load) const;
  /// The coming step and how it grows. Throws Error where it would take longer than 100 days.
  StepTimes Times(const StepLoad& load, int64_t equal_steps) const;
  int64_t OperationsPs(std::span<const Operation> operations) const;
};

/// What of a model one device of a tensor-parallel group holds and computes.
struct DeviceShare {
  int64_t weight_bytes = 0;  ///< all of them
  int64_t expert_bytes = 0;  ///< of them, routed experts
  int64_t kv_bytes_per_token = 0;
  double flops_per_token = 0;  ///< 2 for each parameter that a token meets
};

/// The model of a machine, with tensor parallelism.
StepTimeModel MakeStepTimeModel(const Calibration& calibration, const ModelShape& model,
                                const DeviceShare& share, int64_t tensor_parallel, Dtype dtype);

/// Computes every step's time and runs nothing.
class ModelledExecutor final : public Executor {
 public:
  explicit ModelledExecutor(StepTimeModel model) : model_(std::move(model)) {}

  bool needs_entries() const override { return false; }
  StepTimes Run(const StepBatch& batch, const KvCache& cache, int64_t equal_steps) override {
    StepTimes times = model_.Times(batch.load, equal_steps);
    if (!cache.operations().empty()) {
      times.operations_ps = model_.OperationsPs(cache.operations());
      times.first_ps += times.operations_ps;
    }
    return times;
  }

 private:
  StepTimeModel model_;
};

}  // namespace kvbench
