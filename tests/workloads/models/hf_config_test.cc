#include "workloads/models/hf_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "tests/workloads/testing.h"

namespace kvbench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

ModelShape Parse(const json& config) { return ParseHfConfig(config.dump(), "m", "config.json"); }

std::string Refused(const json& config) {
  const std::string sentence = SentenceOf([&] { Parse(config); });
  EXPECT_FALSE(sentence.empty()) << config;
  EXPECT_LT(sentence.size(), 400u);
  return sentence;
}

json Llama() {
  return {{"model_type", "llama"},          {"hidden_size", 4096}, {"num_attention_heads", 32},
          {"num_hidden_layers", 32},        {"vocab_size", 32000}, {"intermediate_size", 11008},
          {"max_position_embeddings", 4096}};
}

json With(json config, const json& changes) {
  config.update(changes);
  return config;
}

json Without(json config, const char* key) {
  config.erase(key);
  return config;
}

TEST(HfConfigTest, EveryPublicConfigurationGivesTheExpectedShape) {
  KVBENCH_NEEDS_SHARED_DATA();
  const json published = json::parse(ReadTextFile((SharedData() / "models.json").string()));
  int files = 0;
  for (const auto& [file, want] : published.at("config_files_expected").items()) {
    const ModelShape model = ReadHfConfig((SharedData() / "configs" / file).string());
    const auto number = [&want = want](const char* key) {
      return want.at(key).is_null() ? 0 : want.at(key).get<int64_t>();
    };
    EXPECT_EQ(model.name + ".json", file);
    EXPECT_EQ(AttentionName(model.attention), want.at("attention").get<std::string>()) << file;
    EXPECT_EQ(model.num_hidden_layers, number("num_hidden_layers")) << file;
    EXPECT_EQ(model.num_attention_heads, number("num_attention_heads")) << file;
    EXPECT_EQ(model.num_key_value_heads, number("num_key_value_heads")) << file;
    EXPECT_EQ(model.head_dim, number("head_dim")) << file;
    EXPECT_EQ(model.vocab_size, number("vocab_size")) << file;
    EXPECT_EQ(model.max_position_embeddings, number("max_position_embeddings")) << file;
    EXPECT_EQ(model.sliding_window, number("sliding_window")) << file;
    EXPECT_EQ(model.num_sliding_window_layers, number("num_sliding_window_layers")) << file;
    EXPECT_EQ(model.kv_lora_rank, number("kv_lora_rank")) << file;
    EXPECT_EQ(model.qk_rope_head_dim, number("qk_rope_head_dim")) << file;
    EXPECT_EQ(KvBytesPerToken(model, Dtype::kFp16), number("kv_bytes_per_token_fp16")) << file;
    EXPECT_EQ(want.size(), 12u) << "a field is expected that is not compared here";
    ++files;
  }
  EXPECT_EQ(files, 17);
}

// What the list of expected fields leaves out, against the built-in model of the same shape.
TEST(HfConfigTest, FeedForwardAndHiddenSizesAreThoseOfTheBuiltInModels) {
  KVBENCH_NEEDS_SHARED_DATA();
  const std::pair<const char*, const char*> pairs[] = {{"opt-13b", "opt-13b"},
                                                       {"llama-7b", "llama-7b"},
                                                       {"falcon-7b", "falcon-7b"},
                                                       {"gpt-j-6b", "gpt-j-6b"},
                                                       {"mpt-7b", "mpt-7b"},
                                                       {"starcoder", "starcoder-15b"},
                                                       {"gemma-3-27b-it", "gemma-3-27b"},
                                                       {"deepseek-v3", "deepseek-v3"},
                                                       {"gpt-oss-20b", "gpt-oss-20b"},
                                                       {"mixtral-8x7b-v0.1", "mixtral-8x7b"},
                                                       {"qwen3-30b-a3b", "qwen3-30b-a3b"}};
  for (const auto& [file, name] : pairs) {
    const ModelShape read = ReadHfConfig((SharedData() / "configs" / file).string() + ".json");
    const ModelShape built_in = LoadModel(name);
    EXPECT_EQ(read.hidden_size, built_in.hidden_size) << file;
    EXPECT_EQ(read.intermediate_size, built_in.intermediate_size) << file;
    EXPECT_EQ(read.num_experts, built_in.num_experts) << file;
  }
}

TEST(HfConfigTest, HeadsOfFalcon) {
  const json falcon = {{"model_type", "falcon"},    {"hidden_size", 4544},
                       {"num_attention_heads", 71}, {"num_hidden_layers", 32},
                       {"vocab_size", 65024},       {"num_kv_heads", 71}};
  EXPECT_EQ(Parse(falcon).num_key_value_heads, 1) << "multi_query is the class default";
  EXPECT_EQ(Parse(With(falcon, {{"multi_query", false}})).num_key_value_heads, 71);
  const json falcon_40b = With(falcon, {{"hidden_size", 8192},
                                        {"num_attention_heads", 128},
                                        {"num_kv_heads", 8},
                                        {"multi_query", true},
                                        {"new_decoder_architecture", true}});
  EXPECT_EQ(Parse(falcon_40b).num_key_value_heads, 8);
  EXPECT_EQ(Parse(falcon_40b).attention, Attention::kGQA);
}

TEST(HfConfigTest, HeadsOfOthers) {
  EXPECT_EQ(Parse(With(Llama(), {{"num_key_value_heads", nullptr}})).num_key_value_heads, 32);
  EXPECT_EQ(Parse(With(Llama(), {{"num_key_value_heads", 8}})).attention, Attention::kGQA);
  EXPECT_EQ(Parse(With(Llama(), {{"num_key_value_heads", 1}})).attention, Attention::kMQA);
  EXPECT_EQ(Parse(With(Llama(), {{"head_dim", 64}})).head_dim, 64);
  EXPECT_EQ(Parse(With(Llama(), {{"head_dim", nullptr}})).head_dim, 128);
  const json mpt = {{"model_type", "mpt"},
                    {"d_model", 4096},
                    {"n_heads", 32},
                    {"n_layers", 32},
                    {"vocab_size", 50432},
                    {"max_seq_len", 2048},
                    {"attn_config", {{"kv_n_heads", 8}}}};
  EXPECT_EQ(Parse(mpt).num_key_value_heads, 8);
  EXPECT_EQ(Parse(mpt).intermediate_size, 16384);
  const json bigcode = {
      {"model_type", "gpt_bigcode"}, {"n_embd", 6144},      {"n_head", 48},      {"n_layer", 40},
      {"vocab_size", 49152},         {"n_positions", 8192}, {"n_inner", nullptr}};
  EXPECT_EQ(Parse(bigcode).attention, Attention::kMQA) << "multi_query is the class default";
  EXPECT_EQ(Parse(bigcode).intermediate_size, 4 * 6144);
  EXPECT_EQ(Parse(With(bigcode, {{"multi_query", false}})).attention, Attention::kMHA);
}

TEST(HfConfigTest, Windows) {
  const auto windowed = [](const json& changes) {
    const ModelShape model = Parse(With(Llama(), changes));
    return std::pair(model.sliding_window, model.num_sliding_window_layers);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(windowed({{"sliding_window", 4096}}), Pair(4096, 32));
  EXPECT_EQ(windowed({{"sliding_window", nullptr}}), Pair(0, 0));
  EXPECT_EQ(windowed({{"model_type", "mistral"}}), Pair(4096, 32)) << "the class default";
  EXPECT_EQ(windowed({{"model_type", "mistral"}, {"sliding_window", nullptr}}), Pair(0, 0));
  EXPECT_EQ(windowed({{"model_type", "qwen2"}, {"sliding_window", 4096}}), Pair(0, 0))
      << "off unless use_sliding_window";
  EXPECT_EQ(windowed({{"model_type", "qwen2"},
                      {"sliding_window", 4096},
                      {"use_sliding_window", true},
                      {"max_window_layers", 20}}),
            Pair(4096, 12));
  EXPECT_EQ(windowed({{"model_type", "gemma2"}, {"num_hidden_layers", 42}}), Pair(4096, 21));
  EXPECT_EQ(windowed({{"model_type", "gemma3_text"}, {"num_hidden_layers", 62}}), Pair(4096, 52));
  EXPECT_EQ(windowed({{"model_type", "gemma3_text"},
                      {"num_hidden_layers", 4},
                      {"sliding_window", 512},
                      {"layer_types",
                       {"sliding_attention", "full_attention", "sliding_attention",
                        "sliding_attention"}}}),
            Pair(512, 3));
}

TEST(HfConfigTest, MultimodalModelsAreReadFromTextConfig) {
  json config = {{"model_type", "llava"},
                 {"vocab_size", 32064},
                 {"vision_config", {{"num_hidden_layers", 24}, {"hidden_size", 1024}}},
                 {"text_config", Without(Llama(), "vocab_size")}};
  const ModelShape model = Parse(config);
  EXPECT_EQ(model.num_hidden_layers, 32);
  EXPECT_EQ(model.vocab_size, 32064);
}

TEST(HfConfigTest, SaysWhatIsMissing) {
  EXPECT_EQ(
      Refused(Without(Llama(), "num_hidden_layers")),
      "config.json: num_hidden_layers is missing (tried num_hidden_layers, n_layer, n_layers, "
      "num_layers); add one of these keys");
  EXPECT_THAT(Refused(Without(Llama(), "hidden_size")),
              HasSubstr("tried hidden_size, n_embd, d_model"));
  EXPECT_THAT(Refused(Without(Llama(), "max_position_embeddings")), HasSubstr("n_positions"));
  EXPECT_THAT(Refused(Without(Llama(), "intermediate_size")),
              HasSubstr("intermediate_size is missing"));
  EXPECT_THAT(Refused({{"a", 1}}), HasSubstr("is missing"));
}

TEST(HfConfigTest, SaysWhatIsWrong) {
  EXPECT_THAT(Refused(With(Llama(), {{"num_key_value_heads", 5}})),
              HasSubstr("32 is not a multiple of num_key_value_heads 5"));
  EXPECT_THAT(Refused(With(Llama(), {{"num_attention_heads", 33}})),
              HasSubstr("hidden_size 4096 is not a multiple of num_attention_heads 33"));
  EXPECT_THAT(Refused(With(Llama(), {{"num_hidden_layers", -3}})),
              HasSubstr("num_hidden_layers is '-3'; it is a whole number from 1"));
  EXPECT_THAT(Refused(With(Llama(), {{"num_hidden_layers", 2.5}})),
              HasSubstr("num_hidden_layers is '2.5'"));
  EXPECT_THAT(Refused(With(Llama(), {{"num_hidden_layers", "32"}})),
              HasSubstr("num_hidden_layers is '32'"));
  EXPECT_THAT(Refused(With(Llama(), {{"num_hidden_layers", {32, 3}}})),
              HasSubstr("of the type array"));
  EXPECT_THAT(Refused(With(Llama(), {{"num_hidden_layers", 1000000}})),
              HasSubstr("must be from 1 to 10000"));
  EXPECT_THAT(Refused(With(Llama(), {{"num_hidden_layers", 18446744073709551615u}})),
              HasSubstr("it is a whole number"));
  EXPECT_THAT(Refused(With(Llama(), {{"layer_types", {"full_attention"}}})),
              HasSubstr("layer_types is no list of 32 layers"));
  EXPECT_THAT(
      Refused(With(Llama(), {{"num_hidden_layers", 1}, {"layer_types", {"linear_attention"}}})),
      HasSubstr("'linear_attention'"));
  EXPECT_THAT(
      Refused(With(Llama(), {{"num_hidden_layers", 1}, {"layer_types", {"sliding_attention"}}})),
      HasSubstr("sliding_window is missing"));
  EXPECT_THAT(Refused(With(Llama(), {{"model_type", 5}})), HasSubstr("model_type is"));
  EXPECT_THAT(Refused(json::array({1})), HasSubstr("no JSON object"));
}

TEST(HfConfigTest, SaysWhatItCannotRead) {
  EXPECT_THAT(Refused(With(Llama(), {{"model_type", "mamba"}})),
              HasSubstr("model_type 'mamba' has layers that keep a state instead of K and V"));
  EXPECT_THAT(Refused(With(Llama(), {{"model_type", "t5"}})), HasSubstr("encoder-decoder"));
  EXPECT_THAT(Refused(With(Llama(), {{"model_type", "bert"}})),
              HasSubstr("encoder without a KV cache"));
  EXPECT_THAT(Refused(With(Llama(), {{"model_type", "mllama"}})),
              HasSubstr("differ in the KV they keep"));
  EXPECT_THAT(Refused(With(Llama(), {{"is_encoder_decoder", true}})),
              HasSubstr("only decoder-only"));
  EXPECT_THAT(Refused(With(Llama(), {{"mamba_d_state", 16}})), HasSubstr("mamba_d_state says"));
  EXPECT_THAT(Refused(With(Llama(), {{"num_kv_shared_layers", 4}})), HasSubstr("share K and V"));
}

TEST(HfConfigTest, BrokenText) {
  const auto refused = [](std::string_view text) {
    return SentenceOf([&] { ParseHfConfig(text, "m", "config.json"); });
  };
  EXPECT_THAT(refused(""), HasSubstr("config.json: the file is no JSON"));
  EXPECT_THAT(refused("{\"hidden_size\": 4"), HasSubstr("something is wrong at byte"));
  EXPECT_THAT(refused("{\"hidden_size\": 1e309}"), HasSubstr("a number in the file is too large"));
  EXPECT_THAT(refused(std::string(200'000, '[')), HasSubstr("no JSON"));
  EXPECT_THAT(refused(std::string(200'000, '[') + std::string(200'000, ']')),
              HasSubstr("no JSON object"));
}

}  // namespace
}  // namespace kvbench
