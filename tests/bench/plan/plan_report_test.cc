#include "bench/plan/plan_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kvbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PlanReport Report(const char* model, int64_t devices = 1) {
  PlanRequest request;
  request.input = {
      .model = LoadModel(model), .hardware = LoadHardware("h200-sxm"), .tensor_parallel = devices};
  request.contexts = {1000, 2001};
  request.batches = {1, 2};
  return BuildPlanReport(request);
}

std::vector<std::string> VariantNames(const PlanReport& report) {
  std::vector<std::string> names;
  for (const HeadVariant& variant : report.variants) {
    names.push_back(std::string(AttentionName(variant.attention)) + " " +
                    std::to_string(variant.num_key_value_heads) + (variant.own ? " own" : ""));
  }
  return names;
}

TEST(PlanReportTest, OutputIsHalfAContextUnlessGiven) {
  PlanReport report = Report("llama-2-7b");
  ASSERT_EQ(report.contexts.size(), 2u);
  EXPECT_EQ(report.contexts[0].kind.output_tokens, 500);
  EXPECT_EQ(report.contexts[1].kind.output_tokens, 1001);
  report.request.output_tokens = 1500;
  report = BuildPlanReport(report.request);
  EXPECT_EQ(report.contexts[0].kind.output_tokens, 999) << "a request has a token of prompt";
  EXPECT_EQ(report.contexts[1].kind.output_tokens, 1500);
}

TEST(PlanReportTest, VariantsOfTheHeads) {
  EXPECT_THAT(VariantNames(Report("llama-2-7b")), ElementsAre("MHA 32 own", "GQA 8", "MQA 1"));
  EXPECT_THAT(VariantNames(Report("qwen2.5-7b")), ElementsAre("MHA 28", "GQA 4 own", "MQA 1"));
  EXPECT_THAT(VariantNames(Report("falcon-7b")), ElementsAre("MHA 71", "MQA 1 own"))
      << "71 query heads have no divisor";
  EXPECT_THAT(VariantNames(Report("qwen3-8b", 16)), ElementsAre("MHA 32", "GQA 8 own", "MQA 1"));
}

// Without its latent DeepSeek-V3 keeps 128 heads of a 192-wide key and a 128-wide value.
TEST(PlanReportTest, VariantsOfALatent) {
  const PlanReport report = Report("deepseek-v3", 16);
  EXPECT_THAT(VariantNames(report), ElementsAre("MHA 128", "GQA 8", "MQA 1", "MLA 128 own"));
  EXPECT_EQ(report.variants[0].kv_bytes_per_token, 61 * 128 * (192 + 128) * 2);
  EXPECT_EQ(report.variants[3].kv_bytes_per_token, 70'272);
  EXPECT_EQ(report.variants[3].kv_bytes, 2001 * 70'272) << "of the longest context";
}

TEST(PlanReportTest, TextAndJsonShowTheSame) {
  const PlanReport report = Report("llama-2-7b");
  const std::string text = PlanText(report);
  const nlohmann::ordered_json json = PlanJson(report);
  EXPECT_THAT(text, HasSubstr("llama-2-7b on h200-sxm: memory plan"));
  EXPECT_EQ(json["memory_plan"]["slots"], report.plan.slots);
  EXPECT_EQ(json["contexts"].size(), report.contexts.size());
  EXPECT_EQ(json["contexts"][0]["batches"][1]["kv_bytes"], 2 * 1000 * 524'288);
  EXPECT_TRUE(json["gpu_hour_price_usd"].is_null());
}

}  // namespace
}  // namespace kvbench
