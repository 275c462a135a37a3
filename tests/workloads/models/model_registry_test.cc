#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text_file.h"
#include "tests/workloads/testing.h"
#include "workloads/models/model_shape.h"

namespace kvbench {
namespace {

using testing::HasSubstr;

// From public configurations.
TEST(BuiltInModelsTest, KvBytesPerToken) {
  const std::pair<const char*, int64_t> expected[] = {
      {"llama-2-7b", 524288}, {"llama-3-8b", 131072}, {"llama-3-70b", 327680},
      {"opt-13b", 819200},    {"opt-66b", 2359296},   {"opt-175b", 4718592},
      {"falcon-7b", 8192},    {"deepseek-v3", 70272}, {"gpt-oss-120b", 73728},
      {"twin-mha", 8192},     {"twin-gqa", 2048},     {"twin-mqa", 1024}};
  for (const auto& [name, bytes] : expected) {
    EXPECT_EQ(KvBytesPerToken(LoadModel(name), Dtype::kFp16), bytes) << name;
  }
}

TEST(BuiltInModelsTest, AllAreThereOnce) {
  std::set<std::string> names;
  for (const ModelShape& model : BuiltInModels()) {
    EXPECT_TRUE(names.insert(model.name).second) << model.name;
    EXPECT_GT(model.num_parameters, 0) << model.name;
  }
  EXPECT_EQ(names.size(), 40u);
}

TEST(BuiltInModelsTest, Twins) {
  for (const auto& [name, kv_heads] :
       {std::pair("twin-mha", 8), {"twin-gqa", 2}, {"twin-mqa", 1}}) {
    const ModelShape twin = LoadModel(name);
    EXPECT_EQ(twin.num_hidden_layers, 4);
    EXPECT_EQ(twin.hidden_size, 512);
    EXPECT_EQ(twin.num_attention_heads, 8);
    EXPECT_EQ(twin.num_key_value_heads, kv_heads);
    EXPECT_EQ(twin.head_dim, 64);
    EXPECT_EQ(twin.intermediate_size, 1408);
    EXPECT_EQ(twin.vocab_size, 4096);
    EXPECT_EQ(twin.max_position_embeddings, 2048);
  }
}

TEST(BuiltInModelsTest, ArePublishedShapes) {
  KVBENCH_NEEDS_SHARED_DATA();
  const auto published =
      nlohmann::json::parse(ReadTextFile((SharedData() / "models.json").string()));
  int models = 0;
  for (const auto& want : published.at("models")) {
    const ModelShape model = LoadModel(want.at("name").get<std::string>());
    const auto number = [&](const char* key) {
      return want.contains(key) && !want.at(key).is_null() ? want.at(key).get<int64_t>() : 0;
    };
    EXPECT_EQ(AttentionName(model.attention), want.at("attention").get<std::string>())
        << model.name;
    EXPECT_EQ(model.num_hidden_layers, number("num_hidden_layers")) << model.name;
    EXPECT_EQ(model.hidden_size, number("hidden_size")) << model.name;
    EXPECT_EQ(model.num_attention_heads, number("num_attention_heads")) << model.name;
    EXPECT_EQ(model.num_key_value_heads, number("num_key_value_heads")) << model.name;
    EXPECT_EQ(model.head_dim, number("head_dim")) << model.name;
    EXPECT_EQ(model.intermediate_size, number("intermediate_size")) << model.name;
    EXPECT_EQ(model.vocab_size, number("vocab_size")) << model.name;
    EXPECT_EQ(model.max_position_embeddings, number("max_position_embeddings")) << model.name;
    EXPECT_EQ(model.sliding_window, number("sliding_window")) << model.name;
    EXPECT_EQ(model.num_sliding_window_layers, number("num_sliding_window_layers")) << model.name;
    EXPECT_EQ(model.kv_lora_rank, number("kv_lora_rank")) << model.name;
    EXPECT_EQ(model.qk_rope_head_dim, number("qk_rope_head_dim")) << model.name;
    EXPECT_EQ(KvBytesPerToken(model, Dtype::kFp16), number("kv_bytes_per_token_fp16"))
        << model.name;
    EXPECT_NEAR(static_cast<double>(model.num_parameters),
                want.at("params_billion").get<double>() * 1e9,
                static_cast<double>(model.num_parameters) * 0.006)
        << model.name;
    ++models;
  }
  EXPECT_EQ(models, 35);
}

TEST(LoadModelTest, UnknownNamesGetCloseOnes) {
  const std::string sentence = SentenceOf([] { LoadModel("llama2-7b"); });
  EXPECT_THAT(sentence,
              testing::ContainsRegex("there is no model 'llama2-7b' .close: [^)]*llama-2-7b"));
  EXPECT_THAT(sentence, HasSubstr("config.json or one of opt-13b, "));
  EXPECT_THAT(sentence, HasSubstr("twin-mqa"));
  EXPECT_THAT(SentenceOf([] { LoadModel(""); }), HasSubstr("there is no model ''"));
}

TEST(LoadModelTest, PathsAreConfigurations) {
  EXPECT_EQ(SentenceOf([] { LoadModel("./no-such.json"); }),
            "cannot read ./no-such.json: No such file or directory");
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "my-model";
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "config.json")
      << R"({"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 4,
             "intermediate_size": 1408, "vocab_size": 4096, "max_position_embeddings": 2048})";
  EXPECT_EQ(LoadModel((folder / "config.json").string()).name, "my-model");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kvbench
