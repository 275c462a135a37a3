#include "workloads/models/model_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "tests/workloads/testing.h"
#include "workloads/models/hf_config.h"

namespace kvbench {
namespace {

int64_t Total(const std::string& model) { return CountParameters(LoadModel(model)).total(); }

// Per layer 4 H^2 + 2 H FFN and 13 H, V x H, 2,050 x H and the last norm.
TEST(ModelParametersTest, OptIsExact) {
  const ModelParameters opt = CountParameters(LoadModel("opt-13b"));
  EXPECT_EQ(opt.whole, 40 * 13 * 5120 + 2 * 5120 + 2050 * 5120);
  EXPECT_EQ(opt.key_value, 40LL * 2 * 5120 * 5120);
  EXPECT_EQ(opt.divided + opt.key_value, 40LL * 12 * 5120 * 5120 + 50272LL * 5120);
  EXPECT_EQ(opt.total(), 12'853'473'280);
  EXPECT_EQ(Total("opt-66b"),
            64LL * (12 * 9216 * 9216LL + 13 * 9216) + (50272 + 2050 + 2) * 9216LL);
  EXPECT_EQ(Total("opt-175b"),
            96LL * (12 * 12288 * 12288LL + 13 * 12288) + (50272 + 2050 + 2) * 12288LL);
}

// The totals that the published weight files add up to.
TEST(ModelParametersTest, PublishedTotalsAreExact) {
  const std::pair<const char*, int64_t> published[] = {{"llama-2-7b", 6'738'415'616},
                                                       {"llama-2-13b", 13'015'864'320},
                                                       {"llama-2-70b", 68'976'648'192},
                                                       {"llama-3-8b", 8'030'261'248},
                                                       {"llama-3-70b", 70'553'706'496},
                                                       {"llama-3.1-405b", 405'853'388'800},
                                                       {"mistral-7b-v0.1", 7'241'732'096},
                                                       {"mixtral-8x7b", 46'702'792'704},
                                                       {"qwen2.5-7b", 7'615'616'512},
                                                       {"qwen2.5-72b", 72'706'203'648},
                                                       {"qwen3-8b", 8'190'735'360},
                                                       {"qwen3-30b-a3b", 30'532'122'624},
                                                       {"gemma-2-9b", 9'241'705'984},
                                                       {"gemma-2-27b", 27'227'128'320},
                                                       {"falcon-7b", 6'921'720'704},
                                                       {"phi-3-mini-4k", 3'821'079'552},
                                                       {"gpt-j-6b", 6'050'882'784},
                                                       {"bloom-176b", 176'247'271'424},
                                                       {"mpt-7b", 6'649'286'656},
                                                       {"deepseek-v2-lite", 15'706'484'224},
                                                       {"gpt-oss-20b", 20'914'757'184},
                                                       {"gpt-oss-120b", 116'829'156'672},
                                                       {"twin-mha", 17'043'968},
                                                       {"twin-gqa", 15'471'104},
                                                       {"twin-mqa", 15'208'960}};
  for (const auto& [name, total] : published) {
    EXPECT_EQ(Total(name), total) << name;
  }
}

TEST(ModelParametersTest, EveryBuiltInModelIsWithinATenthOfAPercent) {
  for (const ModelShape& model : BuiltInModels()) {
    const auto total = static_cast<double>(CountParameters(model).total());
    EXPECT_NEAR(total, static_cast<double>(model.num_parameters), 0.001 * total) << model.name;
  }
}

TEST(ModelParametersTest, ConfigurationsGiveThePublishedTotals) {
  KVBENCH_NEEDS_SHARED_DATA();
  const std::pair<const char*, const char*> named[] = {
      {"mistral-7b-instruct-v0.3", "mistral-7b-v0.1"},
      {"mixtral-8x7b-v0.1", "mixtral-8x7b"},
      {"gemma-3-27b-it", "gemma-3-27b"},
      {"starcoder", "starcoder-15b"}};
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SharedData() / "configs")) {
    if (entry.path().extension() != ".json") {
      continue;
    }
    const ModelShape model = ReadHfConfig(entry.path().string());
    EXPECT_EQ(model.num_parameters, 0);
    std::string name = model.name;
    for (const auto& [file, built_in] : named) {
      name = name == file ? built_in : name;
    }
    const auto total = static_cast<double>(CountParameters(model).total());
    EXPECT_NEAR(total, static_cast<double>(LoadModel(name).num_parameters), 0.001 * total)
        << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 17);
}

TEST(ModelParametersTest, KeysOfAConfigurationCount) {
  nlohmann::json config = {{"model_type", "llama"},         {"hidden_size", 64},
                           {"num_hidden_layers", 3},        {"num_attention_heads", 4},
                           {"intermediate_size", 96},       {"vocab_size", 100},
                           {"max_position_embeddings", 128}};
  const auto total = [&] {
    return CountParameters(ParseHfConfig(config.dump(), "m", "m")).total();
  };
  const int64_t plain = 3 * (4 * 64 * 64 + 3 * 64 * 96 + 2 * 64) + 2 * 100 * 64 + 64;
  EXPECT_EQ(total(), plain);
  config["tie_word_embeddings"] = true;
  EXPECT_EQ(total(), plain - 100 * 64);
  config["attention_bias"] = true;
  EXPECT_EQ(total(), plain - 100 * 64 + 3 * 4 * 64);
  config["mlp_bias"] = true;
  EXPECT_EQ(total(), plain - 100 * 64 + 3 * (4 * 64 + 2 * 96 + 64));
  config["mlp_bias"] = "yes";
  EXPECT_THAT(SentenceOf(total), testing::HasSubstr("mlp_bias is 'yes'; it is true or false"));
}

TEST(ModelParametersTest, LayersWithoutExperts) {
  nlohmann::json config = {{"model_type", "qwen2_moe"},      {"hidden_size", 64},
                           {"num_hidden_layers", 6},         {"num_attention_heads", 4},
                           {"intermediate_size", 96},        {"vocab_size", 100},
                           {"max_position_embeddings", 128}, {"num_experts", 8},
                           {"num_experts_per_tok", 2},       {"moe_intermediate_size", 32}};
  const auto experts = [&] {
    return CountParameters(ParseHfConfig(config.dump(), "m", "m")).experts / (8 * 3 * 64 * 32);
  };
  EXPECT_EQ(experts(), 6);
  config["decoder_sparse_step"] = 2;
  EXPECT_EQ(experts(), 3);
  config["mlp_only_layers"] = {1};
  EXPECT_EQ(experts(), 2);
}

TEST(ModelParametersTest, WhatADeviceHolds) {
  const ModelShape opt = LoadModel("opt-66b");
  const ModelParameters all = CountParameters(opt);
  EXPECT_EQ(ParametersPerDevice(opt, 1), all.total());
  EXPECT_EQ(ParametersPerDevice(opt, 4), (all.divided + all.key_value) / 4 + all.whole);
  const ModelShape mqa = LoadModel("starcoder-15b");
  const ModelParameters one_head = CountParameters(mqa);
  EXPECT_EQ(ParametersPerDevice(mqa, 4), one_head.divided / 4 + one_head.key_value + one_head.whole)
      << "a single KV head is on every device";
}

TEST(ModelParametersTest, ExpertsThatAStepReads) {
  EXPECT_EQ(ExpectedExpertShare(LoadModel("llama-2-7b"), 1), 1);
  const ModelShape mixtral = LoadModel("mixtral-8x7b");
  EXPECT_DOUBLE_EQ(ExpectedExpertShare(mixtral, 1), 0.25);
  EXPECT_DOUBLE_EQ(ExpectedExpertShare(mixtral, 2), 1 - 0.75 * 0.75);
  EXPECT_NEAR(ExpectedExpertShare(mixtral, 1'000'000'000), 1, 1e-9);
}

TEST(ModelParametersTest, AnAbsurdShapeIsASentence) {
  ModelShape model = LoadModel("mixtral-8x7b");
  model.num_experts = 65536;
  model.num_hidden_layers = 10'000;
  model.weights.moe_intermediate_size = 1 << 24;
  EXPECT_THAT(SentenceOf([&] { CountParameters(model); }), testing::HasSubstr("10^15"));
}

}  // namespace
}  // namespace kvbench
