#include "bench/executors/step_time_model.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/int128.h"
#include "workloads/models/model_parameters.h"

namespace kvbench {

namespace {

/// amount / rate in whole picoseconds; a rate of 0 leaves the term out.
int64_t Picoseconds(double amount, double rate) {
  return rate > 0 ? static_cast<int64_t>(std::floor(amount / rate * 1e12 + 0.5)) : 0;
}

int64_t ValueAt(const StepTimeModel::Curve& curve, int64_t tokens) {
  if (curve.empty() || tokens == 0) {
    return 0;
  }
  const auto above = std::find_if(curve.begin(), curve.end(),
                                  [&](const auto& point) { return point.first >= tokens; });
  if (above == curve.begin()) {
    return above->second;
  }
  if (above == curve.end()) {
    const auto& [last_tokens, last_ps] = curve.back();
    return static_cast<int64_t>(Int128{last_ps} * tokens / last_tokens);
  }
  const auto& [low, low_ps] = *(above - 1);
  const auto& [high, high_ps] = *above;
  return low_ps + static_cast<int64_t>(Int128{high_ps - low_ps} * (tokens - low) / (high - low));
}

/// Kernels of a decoder layer: norm, QKV, RoPE, KV write, attention, output projection, norm, gate
/// and up, activation, down.
constexpr double kLaunchesPerLayer = 10;

constexpr Int128 kLongestStepPs = Int128{100} * 24 * 3600 * 1'000'000'000'000;

}  // namespace

int64_t StepTimeModel::ReadExpertsPs(int64_t tokens) const {
  if (experts_ps == 0) {
    return 0;
  }
  return static_cast<int64_t>(static_cast<double>(experts_ps) *
                              ExpertShare(expert_skipped, tokens));
}

int64_t StepTimeModel::DensePs(const StepLoad& load) const {
  if (!dense_curve.empty()) {
    return ValueAt(dense_curve, load.tokens()) + ValueAt(head_curve, load.generating);
  }
  return std::max(weights_ps + ReadExpertsPs(load.tokens()), load.tokens() * dense_token_ps);
}

int64_t StepTimeModel::PrefillPs(const StepLoad& load) const {
  if (load.prefills == 0) {
    return 0;
  }
  if (!prefill_pair_curve.empty()) {
    const int64_t tokens = load.prefill_tokens / load.prefills;
    return static_cast<int64_t>(Int128{load.prefill_pairs} * ValueAt(prefill_pair_curve, tokens) /
                                tokens);
  }
  return std::max(load.prefill_context * kv_read_token_ps, load.prefill_pairs * attention_pair_ps);
}

StepTimes StepTimeModel::Times(const StepLoad& load, int64_t equal_steps) const {
  const int64_t decode_token_ps = std::max(kv_read_token_ps, attention_pair_ps);
  const Int128 first =
      Int128{DensePs(load)} + PrefillPs(load) + Int128{load.decode_context} * decode_token_ps +
      Int128{load.tokens()} * (kv_write_token_ps + all_reduce_token_ps) +
      Int128{load.sequences()} * sequence_ps + Int128{load.decodes} * decode_ps + step_ps;
  if (first > kLongestStepPs) {
    throw Error("one step would take more than 100 days: check the hardware description");
  }
  StepTimes times;
  times.first_ps = std::max<int64_t>(1, static_cast<int64_t>(first));
  times.growth_ps = load.decodes * decode_token_ps;
  times.steps = equal_steps;
  return times;
}

int64_t StepTimeModel::OperationsPs(std::span<const Operation> operations) const {
  Int128 sum = 0;
  for (const Operation& operation : operations) {
    sum += Int128{operation.tokens} * copy_token_ps + operation_ps;
  }
  if (sum > kLongestStepPs) {
    throw Error("the copies of one step would take more than 100 days: check the hardware");
  }
  return static_cast<int64_t>(sum);
}

StepTimeModel MakeStepTimeModel(const Calibration& c, const ModelShape& model,
                                const DeviceShare& share, int64_t tensor_parallel, Dtype dtype) {
  StepTimeModel m;
  const auto devices = static_cast<double>(tensor_parallel);
  const auto kv_bytes = static_cast<double>(share.kv_bytes_per_token);
  m.weights_ps = Picoseconds(static_cast<double>(share.weight_bytes), c.weight_read_bytes_per_s);
  if (model.weights.num_experts_per_tok > 0) {
    m.experts_ps = Picoseconds(static_cast<double>(share.expert_bytes), c.weight_read_bytes_per_s);
    m.weights_ps -= m.experts_ps;
    m.expert_skipped = 1 - static_cast<double>(model.weights.num_experts_per_tok) /
                               static_cast<double>(model.num_experts);
  }
  m.dense_token_ps = Picoseconds(share.flops_per_token, c.dense_flops_per_s);
  m.kv_read_token_ps = Picoseconds(kv_bytes, c.kv_read_bytes_per_s);
  m.kv_write_token_ps = Picoseconds(kv_bytes, c.kv_write_bytes_per_s);
  // A calibration that leaves the KV write out has it in the reads.
  m.copy_token_ps =
      m.kv_read_token_ps + (m.kv_write_token_ps > 0 ? m.kv_write_token_ps : m.kv_read_token_ps);
  // A step's overhead is that of kLaunchesPerLayer launches in each layer, an operation has two.
  m.operation_ps = Picoseconds(2.0 * c.step_overhead_s / kLaunchesPerLayer, 1.0);
  const double pair_flops = 4.0 * static_cast<double>(model.num_hidden_layers) *
                            static_cast<double>(model.num_attention_heads * model.head_dim) /
                            devices;
  m.attention_pair_ps = Picoseconds(pair_flops, c.attention_flops_per_s);
  m.step_ps = Picoseconds(c.step_overhead_s + c.TensorParallelOverhead(tensor_parallel), 1.0);
  m.sequence_ps = Picoseconds(c.sequence_overhead_s, 1.0);
  if (tensor_parallel > 1 && c.link_bytes_per_s > 0) {
    // A ring all-reduce moves 2 (n - 1) / n of the data over each link.
    const double all_reduces = 2.0 * static_cast<double>(model.num_hidden_layers);
    const double bytes = static_cast<double>(model.hidden_size * DtypeBytes(dtype));
    m.all_reduce_token_ps =
        Picoseconds(all_reduces * bytes * 2.0 * (devices - 1) / devices, c.link_bytes_per_s);
    m.step_ps += Picoseconds(all_reduces * c.all_reduce_latency_s, 1.0);
  }
  return m;
}

}  // namespace kvbench
