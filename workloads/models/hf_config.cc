#include "workloads/models/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/quoting.h"
#include "base/text_file.h"
#include "workloads/models/hf_families.h"

namespace kvbench {
namespace {

using nlohmann::json;

/// The spellings of one fact, tried in order. "attn_config.kv_n_heads" is a key of a nested object.
using Spellings = std::initializer_list<std::string_view>;

std::string ShownType(const json& value) {
  return value.is_string() ? Quoted(value.get_ref<const std::string&>(), 30)
                           : fmt::format("of the type {}", value.type_name());
}

/// One config.json: `text` is the object that describes the language model (text_config of a
/// multimodal one).
class Config {
 public:
  Config(const json& root, std::string where) : root_(root), where_(std::move(where)) {
    if (!root.is_object()) {
      Fail("the file is no JSON object; a config.json has its keys in braces");
    }
    const auto text = root.find("text_config");
    text_ = text != root.end() && text->is_object() ? &*text : &root;
  }

  [[noreturn]] void Fail(std::string_view sentence) const {
    throw Error(fmt::format("{}: {}", where_, sentence));
  }

  /// The value of a key that is there and not null.
  const json* Find(std::string_view path) const {
    const json* object = text_;
    for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
      object = FindIn(*object, path.substr(0, dot));
      if (object == nullptr || !object->is_object()) {
        return nullptr;
      }
      path.remove_prefix(dot + 1);
    }
    return FindIn(*object, path);
  }

  /// Whether the key is there with the value null.
  bool IsNull(std::string_view key) const {
    const auto found = text_->find(key);
    return found != text_->end() && found->is_null();
  }

  std::optional<int64_t> Integer(Spellings spellings, int64_t min) const {
    for (const std::string_view key : spellings) {
      if (const json* value = Find(key)) {
        return CheckedInteger(key, *value, min);
      }
    }
    return std::nullopt;
  }

  int64_t Required(Spellings spellings, int64_t absent = 0) const {
    const std::optional<int64_t> value = Integer(spellings, 1);
    if (!value && absent == 0) {
      Fail(fmt::format("{} is missing (tried {}); add one of these keys", *spellings.begin(),
                       fmt::join(spellings, ", ")));
    }
    return value.value_or(absent);
  }

  bool Flag(std::string_view key, bool absent) const {
    const json* value = Find(key);
    if (value == nullptr) {
      return absent;
    }
    if (!value->is_boolean()) {
      Fail(fmt::format("{} is {}; it is true or false", key, ShownType(*value)));
    }
    return value->get<bool>();
  }

  std::string ModelType() const {
    for (const json* object : {text_, &root_}) {
      if (const json* value = FindIn(*object, "model_type")) {
        if (!value->is_string()) {
          Fail(fmt::format("model_type is {}; it is a string", ShownType(*value)));
        }
        return value->get<std::string>();
      }
    }
    return "";
  }

  /// A multimodal config may say outside of text_config whether the head is the token embedding.
  bool TiedEmbedding(bool absent) const {
    constexpr std::string_view kKey = "tie_word_embeddings";
    const json* value = FindIn(root_, kKey);
    return Find(kKey) == nullptr && value != nullptr && value->is_boolean() ? value->get<bool>()
                                                                            : Flag(kKey, absent);
  }

  /// A multimodal config may keep the vocabulary outside of text_config.
  std::optional<int64_t> RootInteger(std::string_view key) const {
    const json* value = FindIn(root_, key);
    return value == nullptr ? std::nullopt : std::optional(CheckedInteger(key, *value, 1));
  }

 private:
  static const json* FindIn(const json& object, std::string_view key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }

  int64_t CheckedInteger(std::string_view key, const json& value, int64_t min) const {
    constexpr int64_t kMax = int64_t{1} << 40;
    const bool fits = value.is_number_unsigned() ? value.get<uint64_t>() <= uint64_t{kMax}
                                                 : value.is_number_integer();
    if (!fits || value.get<int64_t>() < min) {
      Fail(fmt::format("{} is {}; it is a whole number from {}", key,
                       value.is_number() ? Quoted(DumpJson(value), 30) : ShownType(value), min));
    }
    return value.get<int64_t>();
  }

  const json& root_;
  const json* text_ = nullptr;
  std::string where_;
};

void RefuseUnsupported(const Config& config, const std::string& model_type) {
  if (const std::string_view why = WhyUnsupported(model_type); !why.empty()) {
    config.Fail(fmt::format("model_type {} {}", Quoted(model_type), why));
  }
  if (config.Flag("is_encoder_decoder", false)) {
    config.Fail("is_encoder_decoder is true; only decoder-only models can be read");
  }
  for (const std::string_view key : {"ssm_cfg", "state_size", "ssm_state_size", "mamba_d_state",
                                     "hybrid_override_pattern", "linear_attn_config"}) {
    if (config.Find(key) != nullptr) {
      config.Fail(
          fmt::format("{} says that layers keep a state instead of K and V; only models with "
                      "attention in every layer can be read",
                      key));
    }
  }
  for (const std::string_view key : {"block_configs", "cross_attention_layers"}) {
    if (config.Find(key) != nullptr) {
      config.Fail(
          fmt::format("{} says that layers differ in the KV they keep; only models whose layers "
                      "all have the same KV heads can be read",
                      key));
    }
  }
  if (config.Integer({"num_kv_shared_layers"}, 0).value_or(0) > 0) {
    config.Fail(
        "num_kv_shared_layers says that layers share K and V; only models in which every layer has "
        "its own can be read");
  }
}

int64_t KeyValueHeads(const Config& config, const HfFamily& family, int64_t heads) {
  // Falcon ignores num_kv_heads under multi_query unless the decoder is the new one (40B and 180B).
  const bool falcon_ignores =
      family.model_type == "falcon" &&
      !config.Flag("new_decoder_architecture", config.ModelType() == "RefinedWeb");
  if (falcon_ignores && config.Flag("multi_query", family.multi_query)) {
    return 1;
  }
  if (config.Flag("multi_query_attention", false)) {  // ChatGLM
    return config.Required({"multi_query_group_num"});
  }
  const std::optional<int64_t> listed = config.Integer(
      {"num_key_value_heads", "num_kv_heads", "n_head_kv", "attn_config.kv_n_heads"}, 1);
  if (listed) {
    return *listed;
  }
  if (family.model_type != "falcon" && config.Flag("multi_query", family.multi_query)) {
    return 1;
  }
  return family.num_key_value_heads > 0 ? family.num_key_value_heads : heads;
}

/// Fills sliding_window and num_sliding_window_layers.
void ReadWindows(const Config& config, const HfFamily& family, ModelShape& model) {
  const int64_t layers = model.num_hidden_layers;
  // A window that is null is off; one that is absent may be on by the class's default.
  std::optional<int64_t> window = config.Integer({"sliding_window"}, 0);
  if (!window && !config.IsNull("sliding_window")) {
    window = family.sliding_window;
  }
  int64_t windowed = layers;
  if (const json* types = config.Find("layer_types")) {
    if (!types->is_array() || static_cast<int64_t>(types->size()) != layers) {
      config.Fail(
          fmt::format("layer_types is no list of {} layers; it has one entry a layer", layers));
    }
    windowed = 0;
    for (const json& type : *types) {
      if (type == "sliding_attention") {
        ++windowed;
      } else if (type != "full_attention") {
        config.Fail(
            fmt::format("layer_types has a layer that is {}; only full_attention and "
                        "sliding_attention can be read",
                        ShownType(type)));
      }
    }
    if (windowed > 0 && window.value_or(0) == 0) {
      config.Fail("layer_types has sliding_attention layers but sliding_window is missing; add it");
    }
  } else if (!config.Flag("use_sliding_window", !family.window_needs_switch)) {
    windowed = 0;
  } else if (family.window_needs_switch) {
    // Qwen: the first max_window_layers layers are full.
    constexpr int64_t kClassDefault = 28;
    const int64_t full = config.Integer({"max_window_layers"}, 0).value_or(kClassDefault);
    windowed = std::max(layers - full, int64_t{0});
  } else {
    const int64_t period = config.Integer({"sliding_window_pattern", "_sliding_window_pattern"}, 1)
                               .value_or(family.full_layer_period);
    windowed = period == 0 ? layers : layers - layers / period;
  }
  if (window.value_or(0) > 0 && windowed > 0) {
    model.sliding_window = *window;
    model.num_sliding_window_layers = windowed;
  }
}

/// Head dimension, KV heads and kind of attention.
void ReadHeads(const Config& config, const HfFamily& family, ModelShape& model) {
  const int64_t heads = model.num_attention_heads;
  const std::optional<int64_t> lora_rank = config.Integer({"kv_lora_rank"}, 0);
  if (lora_rank.value_or(0) > 0) {
    model.attention = Attention::kMLA;
    model.kv_lora_rank = *lora_rank;
    model.qk_rope_head_dim = config.Required({"qk_rope_head_dim"});
    model.head_dim = config.Required({"qk_nope_head_dim"}) + model.qk_rope_head_dim;
    model.num_key_value_heads = heads;
    return;
  }
  model.num_key_value_heads = KeyValueHeads(config, family, heads);
  model.attention = model.num_key_value_heads == heads ? Attention::kMHA
                    : model.num_key_value_heads == 1   ? Attention::kMQA
                                                       : Attention::kGQA;
  model.head_dim =
      config.Integer({"head_dim", "kv_channels", "head_size"}, 1).value_or(family.head_dim);
  if (model.head_dim == 0) {
    if (model.hidden_size % heads != 0) {
      config.Fail(
          fmt::format("hidden_size {} is not a multiple of num_attention_heads {} and head_dim is "
                      "missing; add head_dim",
                      model.hidden_size, heads));
    }
    model.head_dim = model.hidden_size / heads;
  }
}

int64_t IntermediateSize(const Config& config, const HfFamily& family, int64_t hidden) {
  int64_t multiple = family.ffn_multiple;
  if (family.model_type == "mpt") {
    multiple = config.Integer({"expansion_ratio"}, 1).value_or(multiple);
  }
  return config.Required(
      {"intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size", "ffn_config.ffn_hidden_size"},
      std::min(multiple, int64_t{1} << 20) * hidden);
}

/// How many layers of a model with experts have none, by the keys of DeepSeek and Qwen.
int64_t DenseLayers(const Config& config, int64_t layers) {
  const int64_t first = config.Integer({"first_k_dense_replace"}, 0).value_or(0);
  const int64_t every = config.Integer({"decoder_sparse_step", "moe_layer_freq"}, 1).value_or(1);
  int64_t dense = std::min(first, layers);
  // Qwen counts from 1 (layer 0 of a step of 2 is dense); no published model has both keys.
  dense += every > 1 ? layers - dense - (layers - dense) / every : 0;
  if (const json* listed = config.Find("mlp_only_layers");
      listed != nullptr && listed->is_array()) {
    dense += static_cast<int64_t>(listed->size());
  }
  return std::min(dense, layers);
}

/// What the number of weights depends on: the class's defaults and the keys that change them.
void ReadWeights(const Config& config, const HfFamily& family, ModelShape& model) {
  WeightShape weights = family.weights;
  weights.tied_embedding = config.TiedEmbedding(weights.tied_embedding);
  // Keys that switch biases on or off, one name a class.
  const bool all = config.Flag("bias", config.Flag("use_bias", weights.mlp_bias));
  if (config.Find("bias") != nullptr || config.Find("use_bias") != nullptr) {
    weights.qkv_bias = weights.output_bias = weights.mlp_bias = all;
  }
  if (family.model_type == "mpt") {
    weights.qkv_bias = weights.output_bias = weights.mlp_bias = weights.norm_bias =
        !config.Flag("no_bias", false);
    weights.extra_position_rows = config.Flag("attn_config.alibi", false) ? -1 : 0;
  }
  if (config.Find("attention_bias") != nullptr) {
    weights.qkv_bias = weights.output_bias = config.Flag("attention_bias", false);
  }
  weights.qkv_bias = config.Flag("add_qkv_bias", weights.qkv_bias);
  weights.mlp_bias = config.Flag("mlp_bias", weights.mlp_bias);
  if (family.model_type == "falcon" &&
      (config.Flag("new_decoder_architecture", config.ModelType() == "RefinedWeb") ||
       !config.Flag("parallel_attn", true))) {
    weights.norms_per_layer = 2;
  }
  const auto size = [&](Spellings keys) { return config.Integer(keys, 0).value_or(0); };
  if (model.attention == Attention::kMLA) {
    weights.q_lora_rank = size({"q_lora_rank"});
    weights.v_head_dim = size({"v_head_dim"});
  }
  if (model.num_experts > 0) {
    weights.moe_intermediate_size = size({"moe_intermediate_size"});
    const int64_t shared = std::min(size({"n_shared_experts"}), int64_t{1} << 16);
    weights.shared_expert_size = shared > 0 ? shared * weights.moe_intermediate_size
                                            : size({"shared_expert_intermediate_size"});
    weights.num_dense_layers = DenseLayers(config, model.num_hidden_layers);
    weights.num_experts_per_tok = size({"num_experts_per_tok", "experts_per_token",
                                        "num_experts_per_token", "ffn_config.moe_top_k"});
  }
  model.weights = weights;
}

}  // namespace

ModelShape ParseHfConfig(std::string_view text, const std::string& name, const std::string& where) {
  json root;
  try {
    root = ParseJson(text);
  } catch (const json::parse_error& error) {
    throw Error(fmt::format("{}: the file is no JSON: something is wrong at byte {} of {}", where,
                            error.byte, text.size()));
  } catch (const json::exception&) {
    throw Error(
        fmt::format("{}: a number in the file is too large; sizes are whole numbers", where));
  }
  const Config config(root, where);
  const std::string model_type = config.ModelType();
  const HfFamily family = FindHfFamily(model_type);
  RefuseUnsupported(config, model_type);

  ModelShape model;
  model.name = name;
  model.num_hidden_layers =
      config.Required({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  model.hidden_size = config.Required({"hidden_size", "n_embd", "d_model"});
  model.num_attention_heads = config.Required(
      {"num_attention_heads", "n_head", "n_heads", "num_heads"}, family.num_attention_heads);
  ReadHeads(config, family, model);
  model.intermediate_size = IntermediateSize(config, family, model.hidden_size);
  model.vocab_size = config.Required({"vocab_size", "padded_vocab_size"},
                                     config.RootInteger("vocab_size").value_or(family.vocab_size));
  model.max_position_embeddings =
      config.Required({"max_position_embeddings", "n_positions", "max_sequence_length",
                       "max_seq_len", "seq_length", "n_ctx", "model_max_length"},
                      family.max_position_embeddings);
  model.num_experts = config
                          .Integer({"num_local_experts", "num_experts", "n_routed_experts",
                                    "moe_num_experts", "ffn_config.moe_num_experts"},
                                   0)
                          .value_or(0);
  ReadWindows(config, family, model);
  ReadWeights(config, family, model);
  ValidateModelShape(model, where);
  return model;
}

ModelShape ReadHfConfig(const std::string& path) {
  constexpr size_t kMostBytes = size_t{64} << 20;
  const std::filesystem::path file(path);
  const bool generic = file.filename() == "config.json" && file.has_parent_path();
  const std::string name =
      generic ? std::filesystem::absolute(file).parent_path().filename().string() : FileStem(path);
  return ParseHfConfig(ReadTextFile(path, kMostBytes), name, ShownPath(path));
}

}  // namespace kvbench
