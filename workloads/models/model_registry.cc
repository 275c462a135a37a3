#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/quoting.h"
#include "workloads/embedded_data.h"
#include "workloads/models/hf_config.h"
#include "workloads/models/hf_families.h"
#include "workloads/models/model_shape.h"

namespace kvbench {
namespace {

constexpr std::string_view kModelsFile = "data/models.json";

Attention ParseAttention(const std::string& name, std::string_view where) {
  for (const Attention attention :
       {Attention::kMHA, Attention::kGQA, Attention::kMQA, Attention::kMLA}) {
    if (name == AttentionName(attention)) {
      return attention;
    }
  }
  throw Error(
      fmt::format("{}: attention {} is none of MHA, GQA, MQA and MLA", where, Quoted(name)));
}

std::vector<ModelShape> ReadModelsFile() {
  std::vector<ModelShape> models;
  const nlohmann::json file = ParseJson(EmbeddedData(kModelsFile));
  for (const auto& entry : file.at("models")) {
    ModelShape model;
    model.name = entry.at("name").get<std::string>();
    const std::string where = fmt::format("{}, model {}", kModelsFile, Quoted(model.name));
    const auto required = [&](const char* key) { return entry.at(key).get<int64_t>(); };
    const auto optional = [&](const char* key) { return entry.value(key, int64_t{0}); };
    model.attention = ParseAttention(entry.at("attention").get<std::string>(), where);
    model.num_hidden_layers = required("num_hidden_layers");
    model.hidden_size = required("hidden_size");
    model.num_attention_heads = required("num_attention_heads");
    model.num_key_value_heads = required("num_key_value_heads");
    model.head_dim = required("head_dim");
    model.intermediate_size = required("intermediate_size");
    model.vocab_size = required("vocab_size");
    model.max_position_embeddings = required("max_position_embeddings");
    model.sliding_window = optional("sliding_window");
    model.num_sliding_window_layers = optional("num_sliding_window_layers");
    model.kv_lora_rank = optional("kv_lora_rank");
    model.qk_rope_head_dim = optional("qk_rope_head_dim");
    model.num_experts = optional("num_experts");
    model.num_parameters = optional("num_parameters");
    model.weights = FindHfFamily(entry.at("model_type").get<std::string>()).weights;
    model.weights.norms_per_layer = entry.value("norms_per_layer", model.weights.norms_per_layer);
    model.weights.q_lora_rank = optional("q_lora_rank");
    model.weights.v_head_dim = optional("v_head_dim");
    model.weights.moe_intermediate_size = optional("moe_intermediate_size");
    model.weights.shared_expert_size = optional("shared_expert_size");
    model.weights.num_dense_layers = optional("num_dense_layers");
    model.weights.num_experts_per_tok = optional("num_experts_per_tok");
    ValidateModelShape(model, where);
    models.push_back(std::move(model));
  }
  return models;
}

}  // namespace

const std::vector<ModelShape>& BuiltInModels() {
  static const std::vector<ModelShape> models = ReadModelsFile();
  return models;
}

ModelShape LoadModel(const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json")) {
    return ReadHfConfig(name_or_path);
  }
  std::vector<std::string> names;
  for (const ModelShape& model : BuiltInModels()) {
    if (model.name == name_or_path) {
      return model;
    }
    names.push_back(model.name);
  }
  const std::vector<std::string> close = CloseNames(name_or_path, names);
  throw Error(fmt::format(
      "there is no model {}{}; give the path of a Hugging Face config.json or one of {}",
      Quoted(name_or_path),
      close.empty() ? "" : fmt::format(" (close: {})", fmt::join(close, ", ")),
      fmt::join(names, ", ")));
}

}  // namespace kvbench
