#include "bench/executors/device_decoder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "bench/executors/decoder_inputs.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cuda/dummy_weights_params.h"
#include "kernels/cuda/elementwise_params.h"
#include "kernels/cuda/rms_norm_params.h"
#include "kernels/cuda/rope_params.h"
#include "kernels/dummy_weights.h"

namespace kvbench {

namespace {

constexpr PhaseMarks::Phase kOther = nullptr;

DeviceAttentionShape AttentionShape(const ModelShape& m, const KvPlacement& placement) {
  return {.kv_type = placement.type(),
          .num_heads = static_cast<int32_t>(m.num_attention_heads),
          .num_kv_heads = static_cast<int32_t>(m.num_key_value_heads),
          .head_dim = static_cast<int32_t>(m.head_dim),
          .scale = 1.0F / std::sqrt(static_cast<float>(m.head_dim)),
          .layout = placement.layout()};
}

int32_t Rows(int64_t rows) { return static_cast<int32_t>(rows); }

/// Uploads floats piece by piece, as they are drawn: an embedding may have gigabytes.
void UploadUniform(Device& device, const DeviceArray<float>& to, const char* stream) {
  constexpr int64_t kPiece = int64_t{1} << 20;
  UniformFloats uniform(stream);
  std::vector<float> piece;
  for (int64_t first = 0; first < to.count(); first += kPiece) {
    piece.resize(static_cast<size_t>(std::min(kPiece, to.count() - first)));
    uniform.Fill(piece);
    device.CopyToDevice(to.data() + first, piece.data(), piece.size() * sizeof(float));
  }
}

}  // namespace

int64_t DeviceDecoder::Bytes(Device& device, const Config& config, const KvPlacement& placement) {
  const ModelShape& m = config.model;
  const int64_t unit = device.properties().allocation_unit;
  const int64_t attended = m.num_attention_heads * m.head_dim;
  const int64_t qkv = QkvWidth(m);
  const DeviceAttention attention(device, AttentionShape(m, placement));
  int64_t sum =
      attention.SizesFor(config.max_sequences, config.max_tokens, config.max_blocks).bytes(unit);
  const auto add = [&](int64_t elements, int64_t each) {
    sum += (elements * each + unit - 1) / unit * unit;
  };
  add(DeviceKvWrite::Bytes(config.max_tokens), 1);
  add(config.max_tokens * attended, 4);
  if (!config.dense) {
    add((config.max_tokens + kNoiseRows) * qkv, 4);
    return sum;
  }
  for (int64_t layer = 0; layer < m.num_hidden_layers; ++layer) {
    add(m.hidden_size * qkv, 2);
    add(attended * m.hidden_size, 2);
    add(m.hidden_size * 2 * m.intermediate_size, 2);
    add(m.intermediate_size * m.hidden_size, 2);
  }
  add(m.vocab_size * m.hidden_size, 2);  // LM head
  add(m.vocab_size * m.hidden_size, 4);  // embedding
  add(m.hidden_size, 4);                 // norm weight
  for (int table = 0; table < 2; ++table) {
    add(config.max_positions * m.head_dim / 2, 4);  // cosines and sines
    add(config.max_tokens * m.hidden_size, 4);      // hidden, projected
    add(config.max_tokens, 4);                      // tokens, positions
  }
  add(config.max_tokens * m.hidden_size, 2);  // normed
  add(config.max_tokens * qkv, 4);
  add(config.max_tokens * attended, 2);
  add(config.max_tokens * 2 * m.intermediate_size, 4);
  add(config.max_tokens * m.intermediate_size, 2);
  add(config.max_sequences * m.vocab_size, 4);  // logits
  add(config.max_sequences, 4);                 // last rows
  return sum;
}

DeviceDecoder::DeviceDecoder(Device& device, const Config& config, DevicePools& pools)
    : device_(device),
      config_(config),
      pools_(pools),
      attention_(device, AttentionShape(config.model, pools)),
      kv_write_(device, pools.type(), static_cast<int32_t>(config.model.num_key_value_heads),
                static_cast<int32_t>(config.model.head_dim), pools.layout(), config.max_tokens),
      marks_(device),
      qkv_width_(QkvWidth(config.model)),
      attended_width_(config.model.num_attention_heads * config.model.head_dim) {
  const std::string type = config.bf16 ? "/bf16" : "/fp16";
  kernels_ = {.embed = &device.kernel("embed"),
              .norm = &device.kernel("rms_norm" + type),
              .add_norm = &device.kernel("add_rms_norm" + type),
              .rope = &device.kernel("rope"),
              .convert = &device.kernel("convert" + type),
              .silu_mul = &device.kernel("silu_mul" + type)};
  attention_.Reserve(
      attention_.SizesFor(config.max_sequences, config.max_tokens, config.max_blocks));
  attended_ = {device, config.max_tokens * attended_width_, "attention outputs"};
  if (config.dense) {
    MakeLayers();
  } else {
    noise_ = {device, (config.max_tokens + kNoiseRows) * qkv_width_, "noise"};
    UploadUniform(device, noise_, kNoiseStream);
  }
  device.Synchronize();
}

DeviceDecoder::Weights DeviceDecoder::MakeWeights(int64_t in, int64_t out, uint64_t seed) {
  Weights weights{.data = {device_, in * out, "weights"}, .in = in, .out = out};
  const DummyWeightsParams params = {
      .out = weights.data.data(), .count = in * out, .seed = seed, .range = DummyWeightRange(in)};
  Launch(device_, device_.kernel(config_.bf16 ? "dummy_weights/bf16" : "dummy_weights/fp16"),
         {{Pieces(params.count), 1, 1}, 0}, params);
  weight_bytes_ += in * out * static_cast<int64_t>(sizeof(uint16_t));
  return weights;
}

void DeviceDecoder::MakeLayers() {
  const ModelShape& m = config_.model;
  for (int64_t i = 0; i < m.num_hidden_layers; ++i) {
    const auto dense = [&](int64_t in, int64_t out, LayerPart part) {
      return MakeWeights(in, out, WeightSeed(i, part));
    };
    layers_.push_back({.qkv = dense(m.hidden_size, qkv_width_, LayerPart::kQkv),
                       .output = dense(attended_width_, m.hidden_size, LayerPart::kOutput),
                       .gate_up = dense(m.hidden_size, 2 * m.intermediate_size, LayerPart::kGateUp),
                       .down = dense(m.intermediate_size, m.hidden_size, LayerPart::kDown)});
  }
  lm_head_ = MakeWeights(m.hidden_size, m.vocab_size, kLmHeadSeed);
  embedding_ = {device_, m.vocab_size * m.hidden_size, "embedding"};
  UploadUniform(device_, embedding_, kEmbeddingStream);
  weight_bytes_ += embedding_.count() * static_cast<int64_t>(sizeof(float));
  norm_weight_ = {device_, m.hidden_size, "norm weight"};
  norm_weight_.Upload(std::vector<float>(static_cast<size_t>(m.hidden_size), 1.0F));
  const RopeTable rope(static_cast<int32_t>(m.head_dim),
                       static_cast<int32_t>(config_.max_positions));
  const int64_t angles = config_.max_positions * m.head_dim / 2;
  cosines_ = {device_, angles, "RoPE cosines"};
  cosines_.Upload({rope.cosines(0), static_cast<size_t>(angles)});
  sines_ = {device_, angles, "RoPE sines"};
  sines_.Upload({rope.sines(0), static_cast<size_t>(angles)});
  hidden_ = {device_, config_.max_tokens * m.hidden_size, "hidden"};
  normed_ = {device_, config_.max_tokens * m.hidden_size, "normed"};
  qkv_ = {device_, config_.max_tokens * qkv_width_, "QKV"};
  attended16_ = {device_, attended_.count(), "attention outputs, 16 bits"};
  projected_ = {device_, config_.max_tokens * m.hidden_size, "projected"};
  gate_up_ = {device_, config_.max_tokens * 2 * m.intermediate_size, "gate and up"};
  activated_ = {device_, config_.max_tokens * m.intermediate_size, "activated"};
  logits_ = {device_, config_.max_sequences * m.vocab_size, "logits"};
  tokens_ = {device_, config_.max_tokens, "tokens"};
  positions_ = {device_, config_.max_tokens, "positions"};
  last_rows_ = {device_, config_.max_sequences, "last rows"};
}

void DeviceDecoder::Run(const StepBatch& batch, std::span<const AttentionSequence> sequences,
                        const std::function<void(const AttentionCall&)>& after_attention,
                        StepPhases* phases) {
  Ranges* const ranges = config_.ranges;
  if (ranges != nullptr && ranges->on()) {
    step_blocks_ = BlocksOf(sequences, pools_.layout().block_size);
  }
  const ScopedRange phase(ranges, PhaseOf(batch.load),
                          {batch.tokens(), batch.load.sequences(), step_blocks_});
  const auto begin = std::chrono::steady_clock::now();
  {
    const ScopedRange range(ranges, RangeKind::kPlan, {batch.load.sequences()});
    attention_.Plan(sequences);
  }
  const auto planned = std::chrono::steady_clock::now();
  kv_write_.Plan(sequences);
  ++step_;
  marks_.Begin(phases != nullptr);
  if (config_.dense) {
    Upload(batch);
    RunLayers(batch, sequences, after_attention);
  } else {
    const float* const qkv = noise_.data() + FirstNoiseRow(step_) * qkv_width_;
    for (int64_t layer = 0; layer < config_.model.num_hidden_layers; ++layer) {
      const ScopedRange range(ranges, RangeKind::kLayer, {layer});
      Attend(layer, sequences, qkv, after_attention);
    }
  }
  device_.Synchronize();
  if (phases != nullptr) {
    phases->attention += std::chrono::duration<double>(planned - begin).count();
    marks_.Collect(*phases);
  }
}

void DeviceDecoder::Upload(const StepBatch& batch) {
  host_tokens_.clear();
  host_positions_.clear();
  host_last_rows_.clear();
  for (const StepEntry& entry : batch.entries) {
    for (int64_t position = entry.first_position; position < entry.context(); ++position) {
      host_positions_.push_back(static_cast<int32_t>(position));
      host_tokens_.push_back(
          static_cast<int32_t>(TokenId(entry.request, position, config_.model.vocab_size)));
    }
    if (entry.generates) {
      host_last_rows_.push_back(static_cast<int32_t>(host_tokens_.size()) - 1);
    }
  }
  tokens_.Upload(host_tokens_);
  positions_.Upload(host_positions_);
  last_rows_.Upload(host_last_rows_);
}

void DeviceDecoder::RunLayers(const StepBatch& batch, std::span<const AttentionSequence> sequences,
                              const std::function<void(const AttentionCall&)>& after_attention) {
  const ModelShape& m = config_.model;
  const int64_t rows = batch.tokens();
  const EmbedParams embed = {.tokens = tokens_.global(),
                             .table = embedding_.global(),
                             .hidden = hidden_.global(),
                             .dim = static_cast<int32_t>(m.hidden_size)};
  Launch(device_, *kernels_.embed, {{Rows(rows), Pieces(m.hidden_size), 1}, 0}, embed);
  for (int64_t i = 0; i < m.num_hidden_layers; ++i) {
    const ScopedRange range(config_.ranges, RangeKind::kLayer, {i});
    const Layer& layer = layers_[static_cast<size_t>(i)];
    Norm(rows, i > 0);
    Dense(layer.qkv, normed_, rows, qkv_);
    Rope(rows);
    Attend(i, sequences, qkv_.data(), after_attention);
    const ConvertParams convert = {
        .in = attended_.global(), .out = attended16_.data(), .count = rows * attended_width_};
    Launch(device_, *kernels_.convert, {{Pieces(convert.count), 1, 1}, 0}, convert);
    Dense(layer.output, attended16_, rows, projected_);
    Norm(rows, true);
    Dense(layer.gate_up, normed_, rows, gate_up_);
    const SiluMulParams silu = {.gate_up = gate_up_.global(),
                                .out = activated_.data(),
                                .dim = static_cast<int32_t>(m.intermediate_size)};
    Launch(device_, *kernels_.silu_mul, {{Rows(rows), Pieces(m.intermediate_size), 1}, 0}, silu);
    Dense(layer.down, activated_, rows, projected_);
  }
  if (batch.load.generating > 0) {
    Norm(batch.load.generating, true, true);
    Dense(lm_head_, normed_, batch.load.generating, logits_);
  }
}

void DeviceDecoder::Attend(int64_t layer, std::span<const AttentionSequence> sequences,
                           const float* qkv,
                           const std::function<void(const AttentionCall&)>& after_attention) {
  const ModelShape& m = config_.model;
  const float* const k = qkv + attended_width_;
  const float* const v = k + m.num_key_value_heads * m.head_dim;
  marks_.End(kOther);
  const int64_t tokens = kv_write_.rows();
  {
    const ScopedRange range(config_.ranges, RangeKind::kCacheWrite, {tokens});
    kv_write_.Run(k, v, qkv_width_, pools_.k(layer), pools_.v(layer));
  }
  marks_.End(&StepPhases::cache_write);
  {
    const ScopedRange range(config_.ranges, RangeKind::kAttention,
                            {step_blocks_, tokens, static_cast<int64_t>(sequences.size())});
    attention_.Run(qkv, qkv_width_, attended_.data(), pools_.k(layer), pools_.v(layer));
  }
  marks_.End(&StepPhases::attention);
  if (after_attention) {
    const DeviceAttentionShape shape = AttentionShape(m, pools_);
    AttentionCall call;
    call.kv_type = shape.kv_type;
    call.num_heads = shape.num_heads;
    call.num_kv_heads = shape.num_kv_heads;
    call.head_dim = shape.head_dim;
    call.scale = shape.scale;
    call.q = qkv;
    call.q_row_stride = qkv_width_;
    call.out = attended_.data();
    call.k = pools_.k(layer);
    call.v = pools_.v(layer);
    call.layout = shape.layout;
    call.sequences = sequences;
    after_attention(call);
    marks_.End(kOther);
  }
}

void DeviceDecoder::Dense(const Weights& weights, const DeviceArray<uint16_t>& in, int64_t rows,
                          DeviceArray<float>& out) {
  const ScopedRange range(config_.ranges, RangeKind::kDense, {rows});
  marks_.End(kOther);
  device_.Multiply({.bf16 = config_.bf16,
                    .in = in.data(),
                    .weights = weights.data.data(),
                    .out = out.data(),
                    .rows = rows,
                    .in_width = weights.in,
                    .out_width = weights.out});
  marks_.End(&StepPhases::dense);
}

void DeviceDecoder::Norm(int64_t rows, bool add, bool last_rows) {
  const RmsNormParams params = {
      .hidden = hidden_.global(),
      .projected = add ? Global<const float>(projected_.global()) : Global<const float>(),
      .weight = norm_weight_.global(),
      .indices = last_rows ? Global<const int32_t>(last_rows_.global()) : Global<const int32_t>(),
      .out = normed_.data(),
      .dim = static_cast<int32_t>(config_.model.hidden_size),
      .epsilon = kNormEpsilon};
  Launch(device_, add ? *kernels_.add_norm : *kernels_.norm,
         {{Rows(rows), 1, 1}, static_cast<int32_t>(kRmsNormSharedBytes)}, params);
}

void DeviceDecoder::Rope(int64_t rows) {
  const ModelShape& m = config_.model;
  // Q and K stand side by side in a row: one launch rotates both.
  const RopeParams params = {
      .x = qkv_.global(),
      .row_stride = qkv_width_,
      .positions = positions_.global(),
      .cosines = cosines_.global(),
      .sines = sines_.global(),
      .heads = static_cast<int32_t>(m.num_attention_heads + m.num_key_value_heads),
      .head_dim = static_cast<int32_t>(m.head_dim)};
  Launch(device_, *kernels_.rope, {{Rows(rows), 1, 1}, 0}, params);
}

}  // namespace kvbench
