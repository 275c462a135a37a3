#include "workloads/models/hf_families.h"

#include <utility>

namespace kvbench {
namespace {

// The classes' weights: what differs from the Llama of WeightShape's defaults.

/// GPT-2 and its kin: layer norms and biases everywhere, two matrices an MLP, tied head.
constexpr WeightShape kGpt = {.gated_mlp = false,
                              .tied_embedding = true,
                              .qkv_bias = true,
                              .output_bias = true,
                              .mlp_bias = true,
                              .norm_bias = true};

/// GPT-J: attention and MLP side by side behind one norm, biases in the MLP and the head alone.
constexpr WeightShape kGptJ = {.gated_mlp = false,
                               .mlp_bias = true,
                               .head_bias = true,
                               .norm_bias = true,
                               .norms_per_layer = 1};

constexpr WeightShape With(WeightShape weights, void (*change)(WeightShape&)) {
  change(weights);
  return weights;
}

constexpr HfFamily kFamilies[] = {
    {.model_type = "bloom",
     .max_position_embeddings = 2048,
     .ffn_multiple = 4,
     .weights = With(kGpt, [](WeightShape& w) { w.embedding_norm = true; })},
    {.model_type = "codegen", .ffn_multiple = 4, .weights = kGptJ},
    {.model_type = "cohere", .weights = {.tied_embedding = true, .norms_per_layer = 1}},
    {.model_type = "cohere2",
     .sliding_window = 4096,
     .full_layer_period = 4,
     .weights = {.tied_embedding = true, .norms_per_layer = 1}},
    {.model_type = "falcon",
     .max_position_embeddings = 2048,
     .ffn_multiple = 4,
     .multi_query = true,
     .weights =
         {.gated_mlp = false, .tied_embedding = true, .norm_bias = true, .norms_per_layer = 1}},
    {.model_type = "gemma", .head_dim = 256, .weights = {.tied_embedding = true}},
    {.model_type = "gemma2",
     .head_dim = 256,
     .sliding_window = 4096,
     .full_layer_period = 2,
     .weights = {.tied_embedding = true, .norms_per_layer = 4}},
    {.model_type = "gemma3_text",
     .num_attention_heads = 8,
     .num_key_value_heads = 4,
     .head_dim = 256,
     .vocab_size = 262208,
     .max_position_embeddings = 131072,
     .sliding_window = 4096,
     .full_layer_period = 6,
     .weights = {.tied_embedding = true, .qk_norm = true, .norms_per_layer = 4}},
    {.model_type = "gpt2",
     .ffn_multiple = 4,
     .weights = With(kGpt, [](WeightShape& w) { w.extra_position_rows = 0; })},
    {.model_type = "gpt_bigcode",
     .ffn_multiple = 4,
     .multi_query = true,
     .weights = With(kGpt, [](WeightShape& w) { w.extra_position_rows = 0; })},
    {.model_type = "gpt_neox",
     .weights = With(kGpt, [](WeightShape& w) { w.tied_embedding = false; })},
    {.model_type = "gpt_oss",
     .sliding_window = 128,
     .full_layer_period = 2,
     .weights = {.qkv_bias = true, .output_bias = true, .mlp_bias = true, .attention_sinks = true}},
    {.model_type = "gptj", .ffn_multiple = 4, .weights = kGptJ},
    {.model_type = "mistral", .sliding_window = 4096},
    {.model_type = "mpt",
     .ffn_multiple = 4,
     .weights = {.gated_mlp = false, .tied_embedding = true}},
    {.model_type = "opt", .weights = With(kGpt, [](WeightShape& w) { w.extra_position_rows = 2; })},
    // PaLM (arXiv 2204.02311, section 2): parallel layers, SwiGLU, no biases, shared embedding.
    {.model_type = "palm", .weights = {.tied_embedding = true, .norms_per_layer = 1}},
    {.model_type = "phi",
     .weights = With(kGptJ, [](WeightShape& w) { w.qkv_bias = w.output_bias = true; })},
    {.model_type = "qwen2", .window_needs_switch = true, .weights = {.qkv_bias = true}},
    {.model_type = "qwen2_moe", .window_needs_switch = true, .weights = {.qkv_bias = true}},
    {.model_type = "qwen3", .window_needs_switch = true, .weights = {.qk_norm = true}},
    {.model_type = "qwen3_moe", .window_needs_switch = true, .weights = {.qk_norm = true}},
    {.model_type = "starcoder2", .weights = kGpt},
};

constexpr std::string_view kStateSpace =
    "has layers that keep a state instead of K and V; only models with attention in every layer "
    "can be read";
constexpr std::string_view kEncoderDecoder =
    "is an encoder-decoder; only decoder-only models can be read";
constexpr std::string_view kEncoder =
    "is an encoder without a KV cache; only decoder-only models can be read";
constexpr std::string_view kUnevenLayers =
    "has layers that differ in the KV they keep, in a way that is not read; describe the layers by "
    "a config "
    "of a plain decoder";

constexpr std::pair<std::string_view, std::string_view> kUnsupported[] = {
    {"bamba", kStateSpace},
    {"falcon_h1", kStateSpace},
    {"falcon_mamba", kStateSpace},
    {"granitemoehybrid", kStateSpace},
    {"jamba", kStateSpace},
    {"lfm2", kStateSpace},
    {"mamba", kStateSpace},
    {"mamba2", kStateSpace},
    {"minimax", kStateSpace},
    {"nemotron_h", kStateSpace},
    {"qwen3_next", kStateSpace},
    {"recurrent_gemma", kStateSpace},
    {"retnet", kStateSpace},
    {"rwkv", kStateSpace},
    {"xlstm", kStateSpace},
    {"zamba", kStateSpace},
    {"zamba2", kStateSpace},
    {"bart", kEncoderDecoder},
    {"blenderbot", kEncoderDecoder},
    {"led", kEncoderDecoder},
    {"longt5", kEncoderDecoder},
    {"m2m_100", kEncoderDecoder},
    {"marian", kEncoderDecoder},
    {"mbart", kEncoderDecoder},
    {"mt5", kEncoderDecoder},
    {"nllb-moe", kEncoderDecoder},
    {"pegasus", kEncoderDecoder},
    {"switch_transformers", kEncoderDecoder},
    {"t5", kEncoderDecoder},
    {"t5gemma", kEncoderDecoder},
    {"umt5", kEncoderDecoder},
    {"whisper", kEncoderDecoder},
    {"albert", kEncoder},
    {"bert", kEncoder},
    {"clip", kEncoder},
    {"deberta", kEncoder},
    {"deberta-v2", kEncoder},
    {"distilbert", kEncoder},
    {"electra", kEncoder},
    {"modernbert", kEncoder},
    {"roberta", kEncoder},
    {"vit", kEncoder},
    {"xlm-roberta", kEncoder},
    {"deci", kUnevenLayers},
    {"gemma3n", kUnevenLayers},
    {"gemma3n_text", kUnevenLayers},
    {"gpt_neo", kUnevenLayers},
    {"llama4", kUnevenLayers},
    {"llama4_text", kUnevenLayers},
    {"mllama", kUnevenLayers},
    {"mllama_text_model", kUnevenLayers},
    {"nemotron-nas", kUnevenLayers},
    {"openelm", kUnevenLayers},
};

/// Older and multimodal names of the families above.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"RefinedWeb", "falcon"},
    {"RefinedWebModel", "falcon"},
    {"gemma3", "gemma3_text"},
};

}  // namespace

HfFamily FindHfFamily(std::string_view model_type) {
  for (const auto& [alias, name] : kAliases) {
    if (model_type == alias) {
      model_type = name;
    }
  }
  for (const HfFamily& family : kFamilies) {
    if (family.model_type == model_type) {
      return family;
    }
  }
  return {.model_type = model_type};
}

std::string_view WhyUnsupported(std::string_view model_type) {
  for (const auto& [name, reason] : kUnsupported) {
    if (name == model_type) {
      return reason;
    }
  }
  return {};
}

}  // namespace kvbench
