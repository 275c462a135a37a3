#include "bench/executors/decoder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>

#include "bench/executors/decoder_inputs.h"
#include "kernels/cpu/kv_write.h"

namespace kvbench {

namespace {

using Clock = std::chrono::steady_clock;

/// Runs f and adds its seconds to `phase`.
template <typename F>
void Timed(double& phase, F&& f) {
  const Clock::time_point start = Clock::now();
  f();
  phase += std::chrono::duration<double>(Clock::now() - start).count();
}

Buffer Floats(int64_t count) {
  Buffer buffer(static_cast<size_t>(count) * sizeof(float));
  buffer.Touch();
  return buffer;
}

void FillUniform(Buffer& buffer, const char* stream) {
  UniformFloats(stream).Fill({buffer.as<float>(), buffer.size() / sizeof(float)});
}

}  // namespace

WeightType WeightTypeOf(Dtype dtype) {
  return dtype == Dtype::kBf16 ? WeightType::kBf16 : WeightType::kFp32;
}

int64_t Decoder::Bytes(const Config& config) {
  const ModelShape& m = config.model;
  const int64_t attended = m.num_attention_heads * m.head_dim;
  int64_t floats = config.max_tokens * attended + config.max_positions * m.head_dim;
  if (!config.dense) {
    return 4 * (floats + (config.max_tokens + kNoiseRows) * QkvWidth(m));
  }
  const int64_t weights =
      m.num_hidden_layers * m.hidden_size * (QkvWidth(m) + attended + 3 * m.intermediate_size) +
      m.vocab_size * m.hidden_size;
  floats +=
      m.vocab_size * m.hidden_size + config.max_sequences * m.vocab_size;  // embedding, logits
  floats += config.max_tokens * (3 * m.hidden_size + QkvWidth(m) + 3 * m.intermediate_size);
  return 4 * floats + WeightBytes(config.weights) * weights;
}

Decoder::Decoder(const Config& config, ThreadPool& pool)
    : config_(config),
      pool_(pool),
      attention_(pool, config.attention_kernel),
      rope_(static_cast<int32_t>(config.model.head_dim),
            static_cast<int32_t>(config.max_positions)),
      qkv_width_(QkvWidth(config.model)) {
  const ModelShape& m = config.model;
  const int64_t attended = m.num_attention_heads * m.head_dim;
  attended_ = Floats(config.max_tokens * attended);
  if (!config.dense) {
    noise_ = Floats((config.max_tokens + kNoiseRows) * qkv_width_);
    FillUniform(noise_, kNoiseStream);
    return;
  }
  for (int64_t i = 0; i < m.num_hidden_layers; ++i) {
    const auto dense = [&](int64_t in, int64_t out, LayerPart part) {
      return DenseLayer(in, out, WeightSeed(i, part), config.weights);
    };
    layers_.push_back({.qkv = dense(m.hidden_size, qkv_width_, LayerPart::kQkv),
                       .output = dense(attended, m.hidden_size, LayerPart::kOutput),
                       .gate_up = dense(m.hidden_size, 2 * m.intermediate_size, LayerPart::kGateUp),
                       .down = dense(m.intermediate_size, m.hidden_size, LayerPart::kDown)});
    const DecoderLayer& layer = layers_.back();
    weight_bytes_ += layer.qkv.weight_bytes() + layer.output.weight_bytes() +
                     layer.gate_up.weight_bytes() + layer.down.weight_bytes();
  }
  lm_head_.emplace_back(m.hidden_size, m.vocab_size, kLmHeadSeed, config.weights);
  embedding_ = Floats(m.vocab_size * m.hidden_size);
  FillUniform(embedding_, kEmbeddingStream);
  weight_bytes_ += lm_head_[0].weight_bytes() + static_cast<int64_t>(embedding_.size());
  norm_weight_.assign(static_cast<size_t>(m.hidden_size), 1.0F);
  hidden_ = Floats(config.max_tokens * m.hidden_size);
  normed_ = Floats(config.max_tokens * m.hidden_size);
  projected_ = Floats(config.max_tokens * m.hidden_size);
  qkv_ = Floats(config.max_tokens * qkv_width_);
  gate_up_ = Floats(config.max_tokens * 2 * m.intermediate_size);
  activated_ = Floats(config.max_tokens * m.intermediate_size);
  logits_ = Floats(config.max_sequences * m.vocab_size);
}

void Decoder::Run(const StepBatch& batch, std::span<const AttentionSequence> sequences,
                  KvPools& pools, const std::function<void(const AttentionCall&)>& after_attention,
                  StepPhases& phases) {
  const ModelShape& m = config_.model;
  const int64_t rows = batch.tokens();
  Ranges* const ranges = config_.ranges;
  if (ranges != nullptr && ranges->on()) {
    step_blocks_ = BlocksOf(sequences, pools.layout().block_size);
  }
  const ScopedRange phase(ranges, PhaseOf(batch.load),
                          {rows, batch.load.sequences(), step_blocks_});
  const auto timed_dense = [&](int64_t tokens, const auto& f) {
    const ScopedRange range(ranges, RangeKind::kDense, {tokens});
    Timed(phases.dense, f);
  };
  {
    const ScopedRange range(ranges, RangeKind::kPlan, {batch.load.sequences()});
    Timed(phases.attention, [&] {
      plan_.Build(sequences, {.num_heads = static_cast<int32_t>(m.num_attention_heads),
                              .num_kv_heads = static_cast<int32_t>(m.num_key_value_heads),
                              .num_threads = pool_.size()});
    });
  }
  ++step_;
  if (!config_.dense) {
    const int64_t first = FirstNoiseRow(step_);
    for (int64_t layer = 0; layer < m.num_hidden_layers; ++layer) {
      const ScopedRange range(ranges, RangeKind::kLayer, {layer});
      Attend(layer, sequences, pools, noise_.as<float>() + first * qkv_width_, after_attention,
             phases);
    }
    return;
  }
  Embed(batch);
  auto* hidden = hidden_.as<float>();
  auto* normed = normed_.as<float>();
  auto* projected = projected_.as<float>();
  auto* qkv = qkv_.as<float>();
  const auto heads = static_cast<int32_t>(m.num_attention_heads);
  const auto kv_heads = static_cast<int32_t>(m.num_key_value_heads);
  for (int64_t i = 0; i < m.num_hidden_layers; ++i) {
    const ScopedRange range(ranges, RangeKind::kLayer, {i});
    const DecoderLayer& layer = layers_[static_cast<size_t>(i)];
    RmsNorm(pool_, hidden, norm_weight_.data(), rows, m.hidden_size, kNormEpsilon, normed);
    timed_dense(rows, [&] { layer.qkv.Run(pool_, normed, rows, qkv); });
    // Q and K stand side by side in a row: one call rotates both.
    ApplyRope(pool_, rope_, qkv, rows, heads + kv_heads, qkv_width_, positions_.data());
    Attend(i, sequences, pools, qkv, after_attention, phases);
    timed_dense(rows, [&] { layer.output.Run(pool_, attended_.as<float>(), rows, projected); });
    AddInPlace(pool_, hidden, projected, rows * m.hidden_size);
    RmsNorm(pool_, hidden, norm_weight_.data(), rows, m.hidden_size, kNormEpsilon, normed);
    timed_dense(rows, [&] { layer.gate_up.Run(pool_, normed, rows, gate_up_.as<float>()); });
    SiluMul(pool_, gate_up_.as<float>(), rows, m.intermediate_size, activated_.as<float>());
    timed_dense(rows, [&] { layer.down.Run(pool_, activated_.as<float>(), rows, projected); });
    AddInPlace(pool_, hidden, projected, rows * m.hidden_size);
  }
  if (batch.load.generating > 0) {
    GatherGenerating(batch);
    RmsNorm(pool_, projected, norm_weight_.data(), batch.load.generating, m.hidden_size,
            kNormEpsilon, normed);
    timed_dense(batch.load.generating, [&] {
      lm_head_[0].Run(pool_, normed, batch.load.generating, logits_.as<float>());
    });
  }
}

void Decoder::Attend(int64_t layer, std::span<const AttentionSequence> sequences, KvPools& pools,
                     const float* qkv,
                     const std::function<void(const AttentionCall&)>& after_attention,
                     StepPhases& phases) {
  const ModelShape& m = config_.model;
  KvWriteCall write;
  write.kv_type = pools.type();
  write.num_kv_heads = static_cast<int32_t>(m.num_key_value_heads);
  write.head_dim = static_cast<int32_t>(m.head_dim);
  write.k = qkv + m.num_attention_heads * m.head_dim;
  write.v = write.k + m.num_key_value_heads * m.head_dim;
  write.row_stride = qkv_width_;
  write.k_pool = pools.k(layer);
  write.v_pool = pools.v(layer);
  write.k_scales = pools.k_scales(layer);
  write.v_scales = pools.v_scales(layer);
  write.layout = pools.layout();
  write.sequences = sequences;
  const int64_t tokens = sequences.back().first_query + sequences.back().num_queries;
  {
    const ScopedRange range(config_.ranges, RangeKind::kCacheWrite, {tokens});
    Timed(phases.cache_write, [&] { WriteKv(pool_, write); });
  }

  AttentionCall call;
  call.kv_type = pools.type();
  call.num_heads = static_cast<int32_t>(m.num_attention_heads);
  call.num_kv_heads = write.num_kv_heads;
  call.head_dim = write.head_dim;
  call.scale = 1.0F / std::sqrt(static_cast<float>(m.head_dim));
  call.q = qkv;
  call.q_row_stride = qkv_width_;
  call.out = attended_.as<float>();
  call.k = pools.k(layer);
  call.v = pools.v(layer);
  call.k_scales = pools.k_scales(layer);
  call.v_scales = pools.v_scales(layer);
  call.layout = pools.layout();
  call.sequences = sequences;
  {
    const ScopedRange range(config_.ranges, RangeKind::kAttention,
                            {step_blocks_, tokens, static_cast<int64_t>(sequences.size())});
    Timed(phases.attention, [&] { attention_.Run(call, plan_); });
  }
  if (after_attention) {
    after_attention(call);
  }
}

void Decoder::Embed(const StepBatch& batch) {
  const ModelShape& m = config_.model;
  positions_.clear();
  float* row = hidden_.as<float>();
  for (const StepEntry& entry : batch.entries) {
    for (int64_t position = entry.first_position; position < entry.context(); ++position) {
      positions_.push_back(static_cast<int32_t>(position));
      const int64_t token = TokenId(entry.request, position, m.vocab_size);
      row = std::copy_n(embedding_.as<float>() + token * m.hidden_size, m.hidden_size, row);
    }
  }
}

void Decoder::GatherGenerating(const StepBatch& batch) {
  const int64_t width = config_.model.hidden_size;
  float* out = projected_.as<float>();
  int64_t end_row = 0;
  for (const StepEntry& entry : batch.entries) {
    end_row += entry.count;
    if (entry.generates) {
      out = std::copy_n(hidden_.as<float>() + (end_row - 1) * width, width, out);
    }
  }
}

}  // namespace kvbench
