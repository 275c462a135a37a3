#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/weight_shape.h"

namespace kvbench {

/// How query heads share K and V. MLA stores one compressed latent a token instead of heads.
enum class Attention { kMHA, kGQA, kMQA, kMLA };
std::string_view AttentionName(Attention attention);  ///< "MHA", "GQA", "MQA", "MLA"

/// The element types of KV caches and weights.
enum class Dtype { kFp32, kFp16, kBf16, kFp8, kInt8 };
/// Bytes of one element.
int DtypeBytes(Dtype dtype);
std::string_view DtypeName(Dtype dtype);  ///< "float32", "float16", "bfloat16", "fp8", "int8"
/// Accepts vLLM's spellings and short ones: float16|fp16|half, bfloat16|bf16, float32|fp32|float,
/// fp8, int8. Throws Error naming the accepted spellings.
Dtype ParseDtype(std::string_view text);

/// The dimensions of a model that decide how large a token's KV is and what a step computes.
/// KV dtype and weight dtype are axes of a run and not part of it.
struct ModelShape {
  std::string name;
  Attention attention = Attention::kMHA;
  int64_t num_hidden_layers = 0;
  int64_t hidden_size = 0;
  int64_t num_attention_heads = 0;
  int64_t num_key_value_heads = 0;
  int64_t head_dim = 0;  ///< for MLA: qk_nope_head_dim + qk_rope_head_dim
  int64_t intermediate_size = 0;
  int64_t vocab_size = 0;
  int64_t max_position_embeddings = 0;
  int64_t sliding_window = 0;             ///< tokens, 0: every layer is full
  int64_t num_sliding_window_layers = 0;  ///< how many of the layers have the window
  int64_t kv_lora_rank = 0;               ///< MLA only
  int64_t qk_rope_head_dim = 0;           ///< MLA only
  int64_t num_experts = 0;                ///< 0: a dense model
  int64_t num_parameters = 0;             ///< as published, 0: unknown; CountParameters computes it
  WeightShape weights = {};               ///< how the weights are made up; K and V depend on none

  int64_t group_size() const { return num_attention_heads / num_key_value_heads; }
};

/// Bytes that one more token adds to the KV cache over all layers, every layer keeping all tokens:
/// 2 x layers x KV heads x head_dim x element size; MLA: layers x (kv_lora_rank + qk_rope_head_dim)
/// x element size. int8 adds a 4-byte scale for each K and V of a KV head, MLA's for each latent.
int64_t KvBytesPerToken(const ModelShape& model, Dtype kv_dtype);

/// Bytes that the KV cache holds of one sequence of so many tokens: every full layer all tokens, a
/// sliding-window layer the last `sliding_window` of them. Throws Error past 2^62 bytes.
int64_t KvBytesForContext(const ModelShape& model, Dtype kv_dtype, int64_t tokens);

/// Checks what every consumer relies on (positive sizes, heads divisible by KV heads, windows
/// known). Throws Error with `where` in front of the sentence.
void ValidateModelShape(const ModelShape& model, std::string_view where);

/// The models built into the program (workloads/data/models.json).
const std::vector<ModelShape>& BuiltInModels();

/// A built-in model by name, or the Hugging Face `config.json` at that path (anything with a '/' or
/// ending in ".json"). Throws Error: an unknown name lists the close ones.
ModelShape LoadModel(const std::string& name_or_path);

}  // namespace kvbench
