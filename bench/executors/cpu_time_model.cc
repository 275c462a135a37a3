#include "bench/executors/cpu_time_model.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace kvbench {

namespace {

int64_t Picoseconds(double seconds) {
  return static_cast<int64_t>(std::floor(seconds * 1e12 + 0.5));
}

}  // namespace

StepTimeModel MakeCpuTimeModel(const CpuRoofs& roofs, const ModelShape& m, Dtype kv_dtype,
                               bool dense, int32_t block_size) {
  const auto layers = static_cast<double>(m.num_hidden_layers);
  const auto kv_heads = static_cast<double>(m.num_key_value_heads);
  const auto hidden = static_cast<double>(m.hidden_size);
  StepTimeModel model;
  const auto decode =
      std::find_if(roofs.decode.begin(), roofs.decode.end(),
                   [&](const DecodeRoof& roof) { return roof.block_size == block_size; });
  assert(decode != roofs.decode.end());
  model.kv_read_token_ps = Picoseconds(layers * kv_heads * decode->seconds_per_key);
  model.decode_ps = Picoseconds(layers * kv_heads * decode->seconds_per_head);
  model.kv_write_token_ps =
      Picoseconds(static_cast<double>(KvBytesPerToken(m, kv_dtype)) / roofs.kv_write_bytes_per_s);
  // The executor hands all pieces of an operation to its threads in one call.
  model.copy_token_ps =
      Picoseconds(2 * static_cast<double>(KvBytesPerToken(m, kv_dtype)) / roofs.read_bytes_per_s);
  model.operation_ps = Picoseconds(roofs.dispatch_s);
  // Once for the KV write of a layer and once for its attention.
  model.step_ps = Picoseconds(2 * layers * roofs.dispatch_s);
  const double query_heads = layers * static_cast<double>(m.num_attention_heads);
  for (const RowRoof& roof : roofs.prefill) {
    model.prefill_pair_curve.emplace_back(
        roof.rows, Picoseconds(query_heads * roof.seconds * static_cast<double>(roof.rows)));
  }
  if (!dense) {
    return model;
  }
  const auto attended = static_cast<double>(m.num_attention_heads * m.head_dim);
  const double qkv = attended + 2 * kv_heads * static_cast<double>(m.head_dim);
  const double weights = hidden * (qkv + attended + 3 * static_cast<double>(m.intermediate_size));
  for (const RowRoof& roof : roofs.dense) {
    const double small = SecondsAt(roofs.elementwise, static_cast<double>(roof.rows));
    model.dense_curve.emplace_back(roof.rows,
                                   Picoseconds(layers * (weights * roof.seconds + hidden * small)));
    model.head_curve.emplace_back(
        roof.rows, Picoseconds(hidden * static_cast<double>(m.vocab_size) * roof.seconds));
  }
  return model;
}

}  // namespace kvbench
