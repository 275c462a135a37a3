#include "results/record/json_writer.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "results/json/json_layout.h"
#include "tests/results/example_results.h"

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

std::string Layout(const Json& value) {
  std::ostringstream out;
  WriteJson(value, 0, out);
  return out.str();
}

TEST(JsonWriter, GoldenFile) { ExpectGolden(ResultsJson(ExampleResults()), "results.json"); }

TEST(JsonWriter, GoldenFileOfAnEmptyRun) {
  ExpectGolden(ResultsJson(EmptyResults()), "empty.json");
}

TEST(JsonWriter, AFileWithoutRuns) {
  const Json json = Json::parse(ResultsJson(ResultsFile()));
  EXPECT_EQ(json["schema_version"], "1.4");
  EXPECT_EQ(json["runs"], Json::array());
}

TEST(JsonWriter, DoublesReadBackToTheSameBits) {
  ResultsFile file = ExampleResults();
  for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.12345679}) {
    file.runs[0].duration = value;
    const Json json = Json::parse(ResultsJson(file));
    const auto read = json["runs"][0]["duration"].get<double>();
    EXPECT_EQ(std::bit_cast<uint64_t>(read), std::bit_cast<uint64_t>(value));
  }
}

TEST(JsonWriter, RequestRateIsANumberInfOrNull) {
  ResultsFile file = ExampleResults();
  const auto rate = [&](std::optional<double> value) {
    file.runs[0].trace.request_rate = value;
    return Json::parse(ResultsJson(file))["runs"][0]["trace"]["request_rate"];
  };
  EXPECT_EQ(rate(2.5), 2.5);
  EXPECT_EQ(rate(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_TRUE(rate(std::numeric_limits<double>::quiet_NaN()).is_null());
  EXPECT_TRUE(rate(std::nullopt).is_null());
}

TEST(JsonWriter, SharesThatAreNoNumbersMakeTheWholeObjectNull) {
  ResultsFile file = ExampleResults();
  file.runs[0].kv.usage_per_step->rounding = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(Json::parse(ResultsJson(file))["runs"][0]["kv"]["usage_per_step"].is_null());
}

TEST(JsonWriter, BrokenUtf8DoesNotStopIt) {
  ResultsFile file = ExampleResults();
  file.runs[0].trace.source =
      "a\xff"
      "b \"quoted\"\n";
  const Json json = Json::parse(ResultsJson(file));
  EXPECT_EQ(json["runs"][0]["trace"]["source"],
            "a\xef\xbf\xbd"
            "b \"quoted\"\n");
}

TEST(JsonLayout, WhatFitsGoesOnOneLine) {
  EXPECT_EQ(Layout(Json::parse(R"({"a": [1, 2.5, null], "b": {}, "c": [], "d": {"e": "f"}})")),
            R"({"a": [1, 2.5, null], "b": {}, "c": [], "d": {"e": "f"}})");
}

TEST(JsonLayout, LongArraysAreFilledToAHundredColumns) {
  Json array = Json::array();
  for (int i = 0; i < 1000; ++i) {
    array.push_back(i);
  }
  const std::string text = Layout(Json{{"key", array}});
  EXPECT_EQ(Json::parse(text)["key"], array);
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_LE(line.size(), 100U);
  }
  EXPECT_LT(count, 60);
}

TEST(JsonLayout, ATimelinesPointTakesOneLine) {
  const Json point = {{"a_rather_long_key_for_a_number", 1.2345678901234567},
                      {"another_rather_long_key_for_a_number", 1.2345678901234567}};
  const std::string text = Layout(Json{{"timeline", {point, point}}});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
}

}  // namespace
}  // namespace kvbench
