#include "workloads/traces/lengths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text_file.h"
#include "tests/workloads/testing.h"
#include "workloads/embedded_data.h"

namespace kvbench {
namespace {

using testing::HasSubstr;

struct Drawn {
  double prompt_mean = 0, output_mean = 0, prompt_sd = 0;
  int64_t prompt_min = INT64_MAX, prompt_max = 0, output_min = INT64_MAX, output_max = 0;
  int64_t total_max = 0;
};

Drawn DrawMany(std::string_view spec, int n = 200'000) {
  const LengthDistribution lengths(spec);
  RandomStream random(1, "test");
  Drawn d;
  double squares = 0;
  for (int i = 0; i < n; ++i) {
    const LengthPair pair = lengths.Draw(random);
    d.prompt_mean += static_cast<double>(pair.prompt) / n;
    d.output_mean += static_cast<double>(pair.output) / n;
    squares += static_cast<double>(pair.prompt * pair.prompt) / n;
    d.prompt_min = std::min(d.prompt_min, pair.prompt);
    d.prompt_max = std::max(d.prompt_max, pair.prompt);
    d.output_min = std::min(d.output_min, pair.output);
    d.output_max = std::max(d.output_max, pair.output);
    d.total_max = std::max(d.total_max, pair.prompt + pair.output);
  }
  d.prompt_sd = std::sqrt(squares - d.prompt_mean * d.prompt_mean);
  return d;
}

TEST(LengthsTest, Fixed) {
  const Drawn d = DrawMany("fixed:prompt=128:output=64", 10);
  EXPECT_EQ(d.prompt_min, 128);
  EXPECT_EQ(d.prompt_max, 128);
  EXPECT_EQ(d.output_min, 64);
  EXPECT_EQ(d.output_max, 64);
}

TEST(LengthsTest, UniformReachesBothEnds) {
  const Drawn d = DrawMany("uniform:prompt=16-20:output=1-256");
  EXPECT_EQ(d.prompt_min, 16);
  EXPECT_EQ(d.prompt_max, 20);
  EXPECT_EQ(d.output_min, 1);
  EXPECT_EQ(d.output_max, 256);
  EXPECT_NEAR(d.prompt_mean, 18.0, 0.02);
  EXPECT_NEAR(d.output_mean, 128.5, 0.8);
}

TEST(LengthsTest, LognormalHasTheMeanAndDeviationAskedFor) {
  const Drawn d =
      DrawMany("lognormal:prompt_mean=200:prompt_sd=150:output_mean=300:output_sd=0", 400'000);
  EXPECT_NEAR(d.prompt_mean, 200.0, 1.0);
  EXPECT_NEAR(d.prompt_sd, 150.0, 2.5);
  EXPECT_EQ(d.output_min, 300);
  EXPECT_EQ(d.output_max, 300);
}

// The exact means of the 29-point table, integrated over its distribution functions: 162.8 / 337.5
// with the output clipped to 2048 - prompt, 154.1 / 335.9 with both lengths drawn again. A mean of
// 200,000 draws has a standard error of 0.67.
constexpr double kWithinNoise = 2.5;

TEST(LengthsTest, ShareGptClipped) {
  const Drawn d = DrawMany("sharegpt");
  EXPECT_NEAR(d.prompt_mean, 162.8, kWithinNoise);
  EXPECT_NEAR(d.output_mean, 337.5, kWithinNoise);
  EXPECT_LE(d.total_max, 2048);
  EXPECT_EQ(d.total_max, 2048) << "some draw meets the cap";
  EXPECT_GE(d.prompt_min, 1);
  EXPECT_EQ(d.output_min, 1);
}

TEST(LengthsTest, RedrawingLowersTheMeans) {
  const Drawn d = DrawMany("sharegpt:over=redraw");
  EXPECT_NEAR(d.prompt_mean, 154.1, kWithinNoise);
  EXPECT_NEAR(d.output_mean, 335.9, kWithinNoise);
  EXPECT_LE(d.total_max, 2048);
  EXPECT_LT(d.prompt_mean, DrawMany("sharegpt").prompt_mean - 4.0);
}

TEST(LengthsTest, ScaledTotalsStayUnderTheScaledCap) {
  const Drawn d = DrawMany("sharegpt:scale=0.25");
  EXPECT_NEAR(d.prompt_mean, 162.8 / 4, kWithinNoise / 4);
  EXPECT_NEAR(d.output_mean, 337.5 / 4, kWithinNoise / 4);
  EXPECT_LE(d.total_max, 512);
  EXPECT_GE(d.prompt_min, 1);
  EXPECT_GE(d.output_min, 1);
  const Drawn odd = DrawMany("sharegpt:scale=0.3", 50'000);
  EXPECT_EQ(odd.total_max, 614) << "floor(2048 * 0.3)";
}

TEST(LengthsTest, RoundsHalfUp) {
  const Drawn d = DrawMany("fixed:prompt=5:output=3:scale=0.5", 1);
  EXPECT_EQ(d.prompt_min, 3) << "2.5 goes up";
  EXPECT_EQ(d.output_min, 2);
  EXPECT_EQ(DrawMany("fixed:prompt=1:output=1:scale=0.01", 1).prompt_min, 1) << "at least 1";
}

TEST(LengthsTest, CapsCutTheOutputAndThenThePrompt) {
  const Drawn output_cut = DrawMany("fixed:prompt=100:output=64:cap=128", 1);
  EXPECT_EQ(output_cut.prompt_min, 100);
  EXPECT_EQ(output_cut.output_min, 28);
  const Drawn both_cut = DrawMany("fixed:prompt=300:output=64:cap=128", 1);
  EXPECT_EQ(both_cut.prompt_min, 127);
  EXPECT_EQ(both_cut.output_min, 1);
  EXPECT_EQ(DrawMany("sharegpt:cap=0").total_max > 2048, true) << "cap=0 lifts the table's own";
}

TEST(LengthsTest, AlpacaHasItsTail) {
  const Drawn d = DrawMany("alpaca", 400'000);
  EXPECT_NEAR(d.prompt_mean, 19.2, 0.4);
  EXPECT_NEAR(d.output_mean, 58.45, 0.8);
  EXPECT_LE(d.output_max, 736);
  EXPECT_GT(d.output_max, 500) << "the last hundredth of a percent was drawn";
}

TEST(LengthsTest, OtherTablesHaveTheMeansOfTheirTraces) {
  EXPECT_NEAR(DrawMany("azure-conv").prompt_mean, 1154.7, 15.0);
  EXPECT_NEAR(DrawMany("azure-conv").output_mean, 211.1, 3.0);
  EXPECT_NEAR(DrawMany("azure-code").prompt_mean, 2047.8, 25.0);
  EXPECT_NEAR(DrawMany("azure-code").output_mean, 27.9, 1.0);
  EXPECT_NEAR(DrawMany("arxiv").prompt_mean, 2588.1, 25.0);
  EXPECT_NEAR(DrawMany("arxiv").output_mean, 291.4, 12.0);
}

TEST(LengthsTest, SaysWhatIsWrong) {
  const auto sentence = [](std::string_view spec) {
    return SentenceOf([&] { LengthDistribution distribution(spec); });
  };
  EXPECT_THAT(sentence("sharegtp"),
              HasSubstr("choose fixed, uniform, lognormal or one of sharegpt"));
  EXPECT_THAT(sentence(""), HasSubstr("no such lengths"));
  EXPECT_THAT(sentence("fixed:prompt=128"), HasSubstr("output is missing"));
  EXPECT_THAT(sentence("fixed:prompt=0:output=1"), HasSubstr("whole number from 1 to 1073741824"));
  EXPECT_THAT(sentence("uniform:prompt=9-3:output=1"), HasSubstr("prompt is not a range"));
  EXPECT_THAT(sentence("sharegpt:scale=0"), HasSubstr("scale"));
  EXPECT_THAT(sentence("sharegpt:over=cut"), HasSubstr("over is neither clip nor redraw"));
  EXPECT_THAT(sentence("sharegpt:cap=2:scale=0.5"), HasSubstr("at least 2 tokens"));
  EXPECT_THAT(sentence("fixed:prompt=10:output=10:cap=15:over=redraw"),
              HasSubstr("even the shortest request passes the cap"));
  EXPECT_THAT(sentence("sharegpt:sacle=2"), HasSubstr("does not know 'sacle'"));
  EXPECT_THAT(SentenceOf([] {
                RandomStream random(1, "test");
                LengthDistribution(
                    "lognormal:prompt_mean=1000000:prompt_sd=0:output_mean=9:output_sd=0:"
                    "cap=100:over=redraw")
                    .Draw(random);
              }),
              HasSubstr("100000 draws in a row passed the cap"));
  EXPECT_THAT(SentenceOf([] {
                RandomStream random(1, "test");
                LengthDistribution("fixed:prompt=1000000:output=9:scale=10000").Draw(random);
              }),
              HasSubstr("give a cap"));
}

TEST(LengthTablesTest, AreSound) {
  const auto tables = nlohmann::json::parse(EmbeddedData("data/lengths.json")).at("tables");
  EXPECT_THAT(LengthTableNames(), testing::ElementsAre("sharegpt", "sharegpt-pairs", "alpaca",
                                                       "azure-conv", "azure-code", "arxiv"));
  for (const auto& table : tables) {
    const auto percentiles = table.at("percentiles").get<std::vector<double>>();
    EXPECT_EQ(percentiles.front(), 0.0);
    EXPECT_EQ(percentiles.back(), 100.0);
    EXPECT_TRUE(std::is_sorted(percentiles.begin(), percentiles.end(), std::less_equal<>()));
    std::vector<nlohmann::json> sides = {table.at("prompt")};
    if (table.contains("output_by_prompt")) {
      double up_to = 0;
      for (const auto& part : table.at("output_by_prompt")) {
        EXPECT_LT(up_to, part.at("up_to").get<double>());
        up_to = part.at("up_to").get<double>();
        sides.push_back(part.at("output"));
      }
    } else {
      sides.push_back(table.at("output"));
    }
    for (const nlohmann::json& side : sides) {
      const auto lengths = side.get<std::vector<double>>();
      EXPECT_EQ(lengths.size(), percentiles.size()) << table.at("name");
      EXPECT_TRUE(std::is_sorted(lengths.begin(), lengths.end()));
      EXPECT_GE(lengths.front(), 1.0);
    }
    EXPECT_FALSE(table.at("source").get<std::string>().empty());
  }
}

TEST(LengthTablesTest, AreThePublishedQuantiles) {
  KVBENCH_NEEDS_SHARED_DATA();
  const auto published =
      nlohmann::json::parse(ReadTextFile((SharedData() / "length_quantiles.json").string()));
  const std::pair<const char*, const char*> names[] = {{"alpaca", "alpaca_vllm_paper"},
                                                       {"azure-conv", "azure2023_conv"},
                                                       {"azure-code", "azure2023_code"},
                                                       {"arxiv", "arxiv_summarization_llama2"}};
  const auto tables = nlohmann::json::parse(EmbeddedData("data/lengths.json")).at("tables");
  for (const auto& [ours, theirs] : names) {
    const auto table = std::find_if(tables.begin(), tables.end(),
                                    [&](const auto& t) { return t.at("name") == ours; });
    ASSERT_NE(table, tables.end());
    for (const auto& [side, their_side] : {std::pair("prompt", "input"), {"output", "output"}}) {
      const auto& source = published.at("datasets").at(theirs).at(their_side);
      auto expected = source.at("quantiles_101").get<std::vector<double>>();
      for (const char* p : {"99.5", "99.9", "99.95", "99.99"}) {
        expected.insert(expected.end() - 1, source.at("tail").at(p).get<double>());
      }
      EXPECT_THAT(table->at(side).get<std::vector<double>>(),
                  testing::Pointwise(testing::DoubleNear(0.0006), expected))
          << ours << " " << side;
    }
  }
}

TEST(LengthsTest, ShareGptPairsKeepHowTheOutputDependsOnThePrompt) {
  // Of the 79,731 pairs: means 161.3 and 338.0, and the mean context over all steps, in which every
  // request counts as often as it has output tokens, 459.7. Independent draws give 440.
  const auto mean_context = [](const char* spec, double& prompt, double& output) {
    const LengthDistribution lengths(spec);
    RandomStream random(11, "lengths");
    double contexts = 0;
    double outputs = 0;
    double prompts = 0;
    constexpr int kDraws = 300'000;
    for (int i = 0; i < kDraws; ++i) {
      const LengthPair pair = lengths.Draw(random);
      const auto o = static_cast<double>(pair.output);
      contexts += o * (static_cast<double>(pair.prompt) + o / 2);
      outputs += o;
      prompts += static_cast<double>(pair.prompt);
    }
    prompt = prompts / kDraws;
    output = outputs / kDraws;
    return contexts / outputs;
  };
  double prompt = 0;
  double output = 0;
  EXPECT_NEAR(mean_context("sharegpt-pairs", prompt, output), 459.7, 4);
  EXPECT_NEAR(prompt, 161.3, 3);
  EXPECT_NEAR(output, 338.0, 3);
  EXPECT_NEAR(mean_context("sharegpt", prompt, output), 442, 4);
}

}  // namespace
}  // namespace kvbench
