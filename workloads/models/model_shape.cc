#include "workloads/models/model_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/quoting.h"

namespace kvbench {
namespace {

constexpr std::pair<std::string_view, Dtype> kDtypeSpellings[] = {
    {"float16", Dtype::kFp16},  {"fp16", Dtype::kFp16},  {"half", Dtype::kFp16},
    {"bfloat16", Dtype::kBf16}, {"bf16", Dtype::kBf16},  {"float32", Dtype::kFp32},
    {"fp32", Dtype::kFp32},     {"float", Dtype::kFp32}, {"fp8", Dtype::kFp8},
    {"int8", Dtype::kInt8},
};

/// Limits far above every model: with them no product below overflows 63 bits.
constexpr int64_t kMaxLayers = 10'000;
constexpr int64_t kMaxHeads = 65'536;
constexpr int64_t kMaxWidth = int64_t{1} << 24;
constexpr int64_t kMaxVocabulary = int64_t{1} << 30;

int64_t KvBytesPerTokenAndLayer(const ModelShape& model, Dtype kv_dtype) {
  const int64_t elements = model.attention == Attention::kMLA
                               ? model.kv_lora_rank + model.qk_rope_head_dim
                               : 2 * model.num_key_value_heads * model.head_dim;
  // int8 has a 4-byte scale for each token's vector: of K and of V of a head, or of the latent.
  constexpr int64_t kScaleBytes = 4;
  const int64_t vectors = model.attention == Attention::kMLA ? 1 : 2 * model.num_key_value_heads;
  return elements * DtypeBytes(kv_dtype) + (kv_dtype == Dtype::kInt8 ? vectors * kScaleBytes : 0);
}

}  // namespace

std::string_view AttentionName(Attention attention) {
  switch (attention) {
    case Attention::kMHA:
      return "MHA";
    case Attention::kGQA:
      return "GQA";
    case Attention::kMQA:
      return "MQA";
    case Attention::kMLA:
      return "MLA";
  }
  return "?";
}

int DtypeBytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp32:
      return 4;
    case Dtype::kFp16:
    case Dtype::kBf16:
      return 2;
    case Dtype::kFp8:
    case Dtype::kInt8:
      return 1;
  }
  return 0;
}

std::string_view DtypeName(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp32:
      return "float32";
    case Dtype::kFp16:
      return "float16";
    case Dtype::kBf16:
      return "bfloat16";
    case Dtype::kFp8:
      return "fp8";
    case Dtype::kInt8:
      return "int8";
  }
  return "?";
}

Dtype ParseDtype(std::string_view text) {
  std::string spellings;
  for (const auto& [spelling, dtype] : kDtypeSpellings) {
    if (text == spelling) {
      return dtype;
    }
    spellings += (spellings.empty() ? "" : ", ") + std::string(spelling);
  }
  throw Error(fmt::format("{} is no element type; choose one of {}", Quoted(text), spellings));
}

int64_t KvBytesPerToken(const ModelShape& model, Dtype kv_dtype) {
  return model.num_hidden_layers * KvBytesPerTokenAndLayer(model, kv_dtype);
}

int64_t KvBytesForContext(const ModelShape& model, Dtype kv_dtype, int64_t tokens) {
  const int64_t windowed = model.num_sliding_window_layers;
  const int64_t bytes = KvBytesPerTokenAndLayer(model, kv_dtype);
  if (static_cast<double>(model.num_hidden_layers * bytes) * static_cast<double>(tokens) > 0x1p62) {
    throw Error(fmt::format("model {}: the KV of {} tokens is past 2^62 bytes; give fewer tokens",
                            Quoted(model.name), tokens));
  }
  return bytes * ((model.num_hidden_layers - windowed) * tokens +
                  windowed * std::min(tokens, model.sliding_window));
}

void ValidateModelShape(const ModelShape& model, std::string_view where) {
  const auto fail = [&](std::string_view sentence) {
    throw Error(fmt::format("{}: {}", where, sentence));
  };
  const auto check = [&](std::string_view what, int64_t value, int64_t min, int64_t max) {
    if (value < min || value > max) {
      fail(fmt::format("{} is {}; it must be from {} to {}", what, value, min, max));
    }
  };
  check("num_hidden_layers", model.num_hidden_layers, 1, kMaxLayers);
  check("hidden_size", model.hidden_size, 1, kMaxWidth);
  check("num_attention_heads", model.num_attention_heads, 1, kMaxHeads);
  check("num_key_value_heads", model.num_key_value_heads, 1, kMaxHeads);
  check("head_dim", model.head_dim, 1, kMaxHeads);
  check("intermediate_size", model.intermediate_size, 1, kMaxWidth);
  check("vocab_size", model.vocab_size, 1, kMaxVocabulary);
  check("max_position_embeddings", model.max_position_embeddings, 1, kMaxVocabulary);
  check("num_experts", model.num_experts, 0, kMaxHeads);
  check("sliding_window", model.sliding_window, 0, kMaxVocabulary);
  check("num_sliding_window_layers", model.num_sliding_window_layers, 0, model.num_hidden_layers);
  check("q_lora_rank", model.weights.q_lora_rank, 0, kMaxWidth);
  check("v_head_dim", model.weights.v_head_dim, 0, kMaxHeads);
  check("moe_intermediate_size", model.weights.moe_intermediate_size, 0, kMaxWidth);
  check("shared_expert_size", model.weights.shared_expert_size, 0, kMaxWidth);
  check("num_dense_layers", model.weights.num_dense_layers, 0, model.num_hidden_layers);
  check("num_experts_per_tok", model.weights.num_experts_per_tok, 0, model.num_experts);
  if ((model.sliding_window > 0) != (model.num_sliding_window_layers > 0)) {
    fail(fmt::format(
        "sliding_window is {} but num_sliding_window_layers is {}; both are 0 or neither is",
        model.sliding_window, model.num_sliding_window_layers));
  }
  const int64_t heads = model.num_attention_heads;
  const int64_t kv_heads = model.num_key_value_heads;
  if (heads % kv_heads != 0) {
    fail(fmt::format(
        "num_attention_heads {} is not a multiple of num_key_value_heads {}; every KV head "
        "serves as many query heads as the others",
        heads, kv_heads));
  }
  if (model.attention == Attention::kMLA) {
    check("kv_lora_rank", model.kv_lora_rank, 1, kMaxWidth);
    check("qk_rope_head_dim", model.qk_rope_head_dim, 0, kMaxHeads);
    return;
  }
  const bool fits = model.attention == Attention::kMHA   ? kv_heads == heads
                    : model.attention == Attention::kMQA ? kv_heads == 1
                                                         : kv_heads > 1 && kv_heads < heads;
  if (!fits) {
    fail(fmt::format(
        "the attention is {} but {} query heads have {} KV heads; MHA has as many, MQA one, "
        "GQA a number in between",
        AttentionName(model.attention), heads, kv_heads));
  }
}

}  // namespace kvbench
