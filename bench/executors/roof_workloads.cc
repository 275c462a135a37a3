#include "bench/executors/roof_workloads.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "kernels/cpu/kv_write.h"
#include "kernels/kv_layout.h"

namespace kvbench {

namespace {

constexpr float kEpsilon = 1e-5F;

template <typename F>
double Timed(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Buffer Floats(int64_t count) {
  Buffer buffer(static_cast<size_t>(count) * sizeof(float));
  buffer.Touch();
  return buffer;
}

Buffer UniformFloats(int64_t count, const char* stream) {
  Buffer buffer(static_cast<size_t>(count) * sizeof(float));
  RandomStream random(0, stream);
  std::generate_n(buffer.as<float>(), count,
                  [&] { return static_cast<float>(2 * random.Uniform() - 1); });
  return buffer;
}

int64_t QkvWidth(const ModelShape& m) {
  return (m.num_attention_heads + 2 * m.num_key_value_heads) * m.head_dim;
}

}  // namespace

LayerWorkload::LayerWorkload(const ModelShape& m, WeightType weights, int64_t bytes,
                             bool model_weights, int64_t max_rows, ThreadPool& pool)
    : pool_(pool),
      model_(m),
      qkv_width_(QkvWidth(m)),
      rope_(static_cast<int32_t>(m.head_dim), static_cast<int32_t>(max_rows)),
      positions_(static_cast<size_t>(max_rows)),
      norm_weight_(static_cast<size_t>(m.hidden_size), 1.0F),
      hidden_(UniformFloats(max_rows * m.hidden_size, "roof hidden")),
      normed_(Floats(max_rows * m.hidden_size)),
      projected_(Floats(max_rows * m.hidden_size)),
      qkv_(Floats(max_rows * qkv_width_)),
      attended_(UniformFloats(max_rows * m.num_attention_heads * m.head_dim, "roof attended")),
      gate_up_(Floats(max_rows * 2 * m.intermediate_size)),
      activated_(Floats(max_rows * m.intermediate_size)) {
  std::iota(positions_.begin(), positions_.end(), 0);
  // Outputs of a matrix that is not cut: more do not change how its panels are read.
  constexpr int64_t kMostWeights = int64_t{4} << 20;
  const int64_t least = DenseLayer::kPanel * pool.size();
  uint64_t seed = 0;
  const auto make = [&](int64_t in, int64_t out) {
    return DenseLayer(in, std::min(out, std::max(least, kMostWeights / in / least * least)), seed++,
                      weights);
  };
  int64_t made_bytes = 0;
  for (int64_t layer = 0; layer < 2 || made_bytes < bytes; ++layer) {
    if (model_weights && layer == m.num_hidden_layers) {
      whole_ = true;
      lm_head_.push_back(make(m.hidden_size, m.vocab_size));
      logits_ = Floats(max_rows * lm_head_[0].out());
      break;
    }
    layers_.push_back({.qkv = make(m.hidden_size, qkv_width_),
                       .output = make(m.num_attention_heads * m.head_dim, m.hidden_size),
                       .gate_up = make(m.hidden_size, 2 * m.intermediate_size),
                       .down = make(m.intermediate_size, m.hidden_size)});
    const DecoderLayer& made = layers_.back();
    made_bytes += made.qkv.weight_bytes() + made.output.weight_bytes() +
                  made.gate_up.weight_bytes() + made.down.weight_bytes();
  }
}

void LayerWorkload::RunDense(const DenseLayer& matrix, const Buffer& x, int64_t rows, Buffer& y,
                             Totals& totals) {
  totals.dense_s += Timed([&] { matrix.Run(pool_, x.as<float>(), rows, y.as<float>()); });
  totals.weights += matrix.in() * matrix.out();
}

void LayerWorkload::RunLayer(const DecoderLayer& layer, int64_t rows, Totals& totals) {
  const ModelShape& m = model_;
  auto* hidden = hidden_.as<float>();
  auto* projected = projected_.as<float>();
  const auto norm = [&] {
    RmsNorm(pool_, hidden, norm_weight_.data(), rows, m.hidden_size, kEpsilon, normed_.as<float>());
  };
  const auto rotated = static_cast<int32_t>(m.num_attention_heads + m.num_key_value_heads);
  double& small = totals.elementwise_s;
  small += Timed(norm);
  RunDense(layer.qkv, normed_, rows, qkv_, totals);
  small += Timed([&] {
    ApplyRope(pool_, rope_, qkv_.as<float>(), rows, rotated, qkv_width_, positions_.data());
  });
  RunDense(layer.output, attended_, rows, projected_, totals);
  small += Timed([&] {
    AddInPlace(pool_, hidden, projected, rows * m.hidden_size);
    norm();
  });
  RunDense(layer.gate_up, normed_, rows, gate_up_, totals);
  small += Timed([&] {
    SiluMul(pool_, gate_up_.as<float>(), rows, m.intermediate_size, activated_.as<float>());
  });
  RunDense(layer.down, activated_, rows, projected_, totals);
  small += Timed([&] { AddInPlace(pool_, hidden, projected, rows * m.hidden_size); });
  ++totals.layers;
}

LayerWorkload::Result LayerWorkload::Run(int64_t rows) {
  // With more rows arithmetic decides, and where the weights come from does not.
  constexpr int64_t kFewRows = 32;
  // A cache that does not simply drop what was used longest ago takes a few steps to settle.
  constexpr int kSteps = 4;
  Totals totals;
  if (whole_ && rows <= kFewRows) {
    for (int step = 0; step < kSteps; ++step) {
      totals = {};
      for (const DecoderLayer& layer : layers_) {
        RunLayer(layer, rows, totals);
      }
      RunDense(lm_head_[0], normed_, rows, logits_, totals);
    }
  } else {
    RunLayer(layers_[next_], rows, totals);
    next_ = (next_ + 1) % layers_.size();
  }
  return {.dense_s = totals.dense_s / static_cast<double>(totals.weights),
          .elementwise_s = totals.elementwise_s / static_cast<double>(totals.layers)};
}

KvWorkload::KvWorkload(const ModelShape& m, KvType type, int64_t bytes,
                       const std::vector<int32_t>& block_sizes, ThreadPool& pool)
    : pool_(pool), model_(m), type_(type), qkv_width_(QkvWidth(m)), attention_(pool) {
  // A batch is a quarter of the sequences: a sequence for each thread where memory allows.
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  int64_t wanted = std::max(bytes / token_bytes(), std::min(int64_t{4} * kLongContext * pool.size(),
                                                            kMostBytes / token_bytes()));
  for (const int32_t block : block_sizes) {
    wanted = std::max(wanted, int64_t{4} * block);
  }
  slots_ = std::max<int64_t>((wanted + kMaxPrompt - 1) / kMaxPrompt, 2) * kMaxPrompt;

  const auto kv_heads = static_cast<int32_t>(m.num_key_value_heads);
  const auto head_dim = static_cast<int32_t>(m.head_dim);
  int64_t elements = ContiguousPoolElements(slots_, kv_heads, head_dim);
  for (const int32_t block : block_sizes) {
    if (block > 0) {
      const int64_t blocks = slots_ / block;
      elements =
          std::max(elements, PagedPoolElements(PagedLayout(block, kv_heads, head_dim), blocks));
    }
  }
  k_ = Buffer(static_cast<size_t>(elements * KvTypeBytes(type)));
  v_ = Buffer(static_cast<size_t>(elements * KvTypeBytes(type)));
  k_.Touch();
  v_.Touch();
  if (type == KvType::kInt8) {
    k_scales_ = Floats(elements / head_dim);
    v_scales_ = Floats(elements / head_dim);
  }
  noise_ = UniformFloats(kMaxPrompt * qkv_width_, "roof noise");
  out_ = Floats(kMaxPrompt * m.num_attention_heads * m.head_dim);

  // Every token gets a vector, so that the softmax has something to compare.
  const KvLayout layout = ContiguousLayout(kv_heads, head_dim);
  for (int64_t first = 0; first < slots_; first += kMaxPrompt) {
    const ContiguousPlacement place = PlaceContiguous(first, kMaxPrompt, kv_heads, head_dim);
    sequences_.assign(1, {.first_query = 0,
                          .num_queries = static_cast<int32_t>(kMaxPrompt),
                          .context = static_cast<int32_t>(kMaxPrompt),
                          .base = place.base,
                          .head_stride = place.head_stride});
    Write(layout);
  }
}

int64_t KvWorkload::token_bytes() const {
  return 2 * model_.num_key_value_heads * KvRowBytes(type_, model_.head_dim);
}

KvWorkload::Decodes KvWorkload::MakeDecodes(int32_t block_size, int32_t context) const {
  const auto kv_heads = static_cast<int32_t>(model_.num_key_value_heads);
  const auto head_dim = static_cast<int32_t>(model_.head_dim);
  Decodes decodes;
  int64_t count = 0;
  int64_t blocks_each = 0;
  // A short sequence has room to grow: its heads do not follow one another closely.
  const int64_t chunk = context < kLongContext ? 2 * context : context;
  if (block_size == 0) {
    decodes.layout = ContiguousLayout(kv_heads, head_dim);
    count = slots_ / chunk;
  } else {
    decodes.layout = PagedLayout(block_size, kv_heads, head_dim);
    blocks_each = (context + block_size - 1) / block_size;
    decodes.blocks.resize(static_cast<size_t>(slots_ / block_size));
    std::iota(decodes.blocks.begin(), decodes.blocks.end(), 0);
    RandomStream random(0, "roof blocks");
    for (size_t left = decodes.blocks.size(); left > 1; --left) {
      std::swap(decodes.blocks[left - 1], decodes.blocks[random.Below(left)]);
    }
    count = static_cast<int64_t>(decodes.blocks.size()) / blocks_each;
  }
  for (int64_t i = 0; i < count; ++i) {
    AttentionSequence sequence;
    sequence.context = context;
    if (block_size == 0) {
      const ContiguousPlacement place = PlaceContiguous(i * chunk, chunk, kv_heads, head_dim);
      sequence.base = place.base;
      sequence.head_stride = place.head_stride;
    } else {
      sequence.blocks = decodes.blocks.data() + i * blocks_each;
    }
    decodes.sequences.push_back(sequence);
  }
  decodes.batch = std::clamp<int64_t>(count / 4, 1, context < kLongContext ? 256 : 64);
  return decodes;
}

void KvWorkload::TakeBatch(Decodes& decodes, int32_t num_queries) {
  sequences_.clear();
  for (int64_t i = 0; i < decodes.batch; ++i) {
    AttentionSequence& sequence = sequences_.emplace_back(decodes.sequences[decodes.next]);
    sequence.first_query = i;
    sequence.num_queries = num_queries;
    decodes.next = (decodes.next + 1) % decodes.sequences.size();
  }
}

AttentionCall KvWorkload::Call(const KvLayout& layout, int32_t kv_heads) const {
  AttentionCall call;
  call.kv_type = type_;
  call.num_heads = kv_heads * static_cast<int32_t>(model_.group_size());
  call.num_kv_heads = kv_heads;
  call.head_dim = static_cast<int32_t>(model_.head_dim);
  call.scale = 1.0F / std::sqrt(static_cast<float>(model_.head_dim));
  call.q = noise_.as<float>();
  call.q_row_stride = qkv_width_;
  call.k = k_.as<void>();
  call.v = v_.as<void>();
  call.k_scales = k_scales_.as<float>();
  call.v_scales = v_scales_.as<float>();
  call.layout = layout;
  call.sequences = sequences_;
  return call;
}

double KvWorkload::Attend(const AttentionCall& given) {
  AttentionCall call = given;
  call.out = out_.as<float>();
  plan_.Build(call.sequences, {.num_heads = call.num_heads,
                               .num_kv_heads = call.num_kv_heads,
                               .num_threads = pool_.size()});
  return Timed([&] { attention_.Run(call, plan_); });
}

double KvWorkload::Decode(Decodes& decodes) {
  TakeBatch(decodes, 1);
  return Attend(Call(decodes.layout, static_cast<int32_t>(model_.num_key_value_heads)));
}

void KvWorkload::Write(const KvLayout& layout) {
  KvWriteCall call;
  call.kv_type = type_;
  call.num_kv_heads = static_cast<int32_t>(model_.num_key_value_heads);
  call.head_dim = static_cast<int32_t>(model_.head_dim);
  call.k = noise_.as<float>() + model_.num_attention_heads * model_.head_dim;
  call.v = call.k + model_.num_key_value_heads * model_.head_dim;
  call.row_stride = qkv_width_;
  call.k_pool = k_.as<void>();
  call.v_pool = v_.as<void>();
  call.k_scales = k_scales_.as<float>();
  call.v_scales = v_scales_.as<float>();
  call.layout = layout;
  call.sequences = sequences_;
  WriteKv(pool_, call);
}

double KvWorkload::Write(Decodes& decodes) {
  TakeBatch(decodes, 1);
  return Timed([&] { Write(decodes.layout); });
}

int32_t KvWorkload::PrefillKvHeads() const {
  // Arithmetic decides here: heads cost the same each, and few of them keep large models short.
  constexpr int64_t kMostQueryFloats = 1024;
  return static_cast<int32_t>(std::clamp<int64_t>(
      kMostQueryFloats / (model_.group_size() * model_.head_dim), 1, model_.num_key_value_heads));
}

double KvWorkload::Prefill(int32_t tokens) {
  const int32_t kv_heads = PrefillKvHeads();
  const auto head_dim = static_cast<int32_t>(model_.head_dim);
  sequences_.clear();
  for (int32_t i = 0; i < kMaxPrompt / tokens; ++i) {
    const ContiguousPlacement place = PlaceContiguous(i * tokens, tokens, kv_heads, head_dim);
    sequences_.push_back({.first_query = i * tokens,
                          .num_queries = tokens,
                          .context = tokens,
                          .base = place.base,
                          .head_stride = place.head_stride});
  }
  return Attend(Call(ContiguousLayout(kv_heads, head_dim), kv_heads));
}

double KvWorkload::PrefillVisible(int32_t tokens) const {
  const int64_t rows = PrefillKvHeads() * model_.group_size() * (kMaxPrompt / tokens) * tokens;
  return 0.5 * static_cast<double>(rows * (tokens + int64_t{1}));
}

}  // namespace kvbench
