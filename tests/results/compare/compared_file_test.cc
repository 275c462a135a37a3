#include "results/compare/compared_file.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/results/compare/compare_case.h"

// Broken input is one sentence.

namespace kvbench {
namespace {

using testing::HasSubstr;

class ComparedFileTest : public CompareCase {
 protected:
  /// The sentence about a text.
  static std::string Refusal(const std::string& text) {
    try {
      ParseComparedFile(text, "broken.json");
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
      return error.what();
    }
    return "read";
  }
  static std::string Refusal(const std::function<void(Json&)>& plant) {
    Json json = Json::parse(ResultsJson(Repeated(2, 1)));
    plant(json);
    return Refusal(json.dump());
  }
};

TEST_F(ComparedFileTest, EveryTruncationIsRefused) {
  const std::string text = ResultsJson(ExampleResults());
  for (size_t size = 0; size + 1 < text.size(); size += size < 3000 ? 37 : 997) {
    EXPECT_NE(Refusal(text.substr(0, size)), "read") << size;
  }
  EXPECT_THAT(Refusal(text.substr(0, text.size() / 2)), HasSubstr("was the file cut off?"));
  EXPECT_THAT(Refusal(""), HasSubstr("the file is empty"));
  EXPECT_EQ(Refusal(text), "read");
}

TEST_F(ComparedFileTest, OtherVersionsAreRefused) {
  EXPECT_THAT(Refusal([](Json& json) { json["schema_version"] = "2.0"; }),
              HasSubstr("schema_version is '2.0'; this kvbench reads 1.x"));
  EXPECT_THAT(Refusal([](Json& json) { json["schema_version"] = "0.9"; }), HasSubstr("0.9"));
  EXPECT_THAT(Refusal([](Json& json) { json["schema_version"] = nullptr; }),
              HasSubstr("no schema_version"));
  EXPECT_THAT(Refusal([](Json& json) { json["schema_version"] = "1"; }), HasSubstr("is '1';"));
  EXPECT_THAT(Refusal([](Json& json) { json.erase("schema_version"); }),
              HasSubstr("no schema_version"));
  EXPECT_EQ(Refusal([](Json& json) { json["schema_version"] = "1.1"; }), "read");
  EXPECT_EQ(Refusal([](Json& json) { json["schema_version"] = "1.17"; }), "read");
}

TEST_F(ComparedFileTest, DuplicatesEmptyFilesAndNullsAreRefused) {
  EXPECT_THAT(Refusal([](Json& json) { json["runs"][1]["repetition"] = 0; }),
              HasSubstr("repetition 0 of one run is there twice: model="));
  EXPECT_THAT(Refusal([](Json& json) { json["runs"].clear(); }), HasSubstr("there are no runs"));
  EXPECT_THAT(Refusal([](Json& json) { json["runs"] = nullptr; }), HasSubstr("no list of runs"));
  EXPECT_THAT(Refusal([](Json& json) { json["environment"] = nullptr; }),
              HasSubstr("environment is null"));
  EXPECT_THAT(Refusal([](Json& json) { json.erase("run_info"); }),
              HasSubstr("run_info is null or missing"));
  for (const char* key :
       {"label", "repetition", "completed", "rejected", "steps", "executor", "trace", "kv"}) {
    EXPECT_THAT(Refusal([&](Json& json) { json["runs"][1][key] = nullptr; }),
                HasSubstr(std::string("runs[1].") + key + " is null"));
    EXPECT_THAT(Refusal([&](Json& json) { json["runs"][1].erase(key); }),
                HasSubstr(std::string("runs[1].") + key + " is null or missing"));
  }
  EXPECT_THAT(Refusal([](Json& json) { json["runs"][1]["trace"]["sha256"] = nullptr; }),
              HasSubstr("runs[1].trace.sha256 is null"));
  EXPECT_THAT(Refusal([](Json& json) { json["runs"][1]["label"] = 5; }),
              HasSubstr("text is needed there"));
  EXPECT_THAT(Refusal([](Json& json) { json["runs"][1]["repetition"] = -1; }),
              HasSubstr("a number from 0 on is needed"));
  EXPECT_THAT(Refusal([](Json& json) { json["runs"][1] = 5; }), HasSubstr("runs[1] is no object"));
  EXPECT_EQ(Refusal([](Json& json) { json["runs"][1]["output_throughput"] = nullptr; }), "read");
}

TEST_F(ComparedFileTest, WhatIsNoJsonOrAnotherIsRefused) {
  EXPECT_EQ(Refusal("[1, 2]"), "this is JSON, but no object");
  EXPECT_THAT(Refusal("{}"), HasSubstr("no schema_version"));
  EXPECT_THAT(Refusal("{\"a\": }"), HasSubstr("no JSON in line 1"));
  EXPECT_THAT(Refusal("{\"a\"\n 1}"), HasSubstr("no JSON in line 2"));
  EXPECT_THAT(Refusal("{} x"), HasSubstr("no JSON in line 1"));
  EXPECT_THAT(Refusal("{\"runs\": [{\"label\": flase}]}"), HasSubstr("invalid literal"));
  EXPECT_THAT(Refusal("{\"schema_version\": 1.x}"), HasSubstr("no JSON in line 1"));
  EXPECT_THAT(Refusal("{\"a\": " + std::string(5000, '[')), HasSubstr("cut off"));
}

const char* const kMicro = R"({
  "context": {"date": "2025-01-31T12:00:00+00:00", "host_name": "h", "num_cpus": 2,
              "cpu_model": "Example CPU", "load_avg": [0.5]},
  "benchmarks": [
    {"name": "decode/a", "run_type": "iteration", "repetition_index": 0, "iterations": 10,
     "real_time": 2.5, "cpu_time": 2, "time_unit": "us", "tokens_per_s": 400.0,
     "roof_bytes_per_s": 1e10, "roof_share": 0.75},
    {"name": "decode/a", "run_type": "iteration", "repetition_index": 1, "iterations": 10,
     "real_time": 2600, "cpu_time": 2, "time_unit": "ns", "tokens_per_s": 390.0,
     "roof_bytes_per_s": 1e10, "roof_share": 0.74},
    {"name": "decode/a_mean", "run_type": "aggregate", "real_time": 2550, "time_unit": "ns"}
  ]
})";

TEST_F(ComparedFileTest, GoogleBenchmarkIsRead) {
  const ComparedFile file = ParseComparedFile(kMicro, "micro.json");
  ASSERT_EQ(file.runs.size(), 2);
  EXPECT_EQ(file.runs[0].Metric("real_time_ns"), 2500);
  EXPECT_EQ(file.runs[1].Metric("real_time_ns"), 2600);
  EXPECT_EQ(file.runs[1].Metric("roof_share"), 0.74);
  EXPECT_EQ(file.runs[1].Metric("iterations"), std::nullopt);
  EXPECT_EQ(file.runs[1].repetition, 1);
  EXPECT_EQ(file.runs[0].made_on, "Example CPU, 2 cores on 2025-01-31");
  EXPECT_EQ(file.runs[0].roof->bytes_per_s, 1e10);
  const Comparison comparison = CompareFiles(file, file, {.metrics = {"roof_share"}});
  EXPECT_EQ(comparison.runs[0].timings[0].why, "needs 9 repetitions, has 2");
  const ComparedFile runs = Parsed(ExampleResults(), "runs.json");
  EXPECT_THROW(CompareFiles(file, runs, {}), Error);
  EXPECT_THAT(Refusal("{\"context\": {}, \"benchmarks\": []}"), HasSubstr("there are no runs"));
  EXPECT_THAT(Refusal("{\"benchmarks\": [{\"name\": \"a\", \"run_type\": \"aggregate\"}]}"),
              HasSubstr("holds aggregates alone"));
  EXPECT_THAT(Refusal("{\"benchmarks\": [{\"name\": null}]}"),
              HasSubstr("benchmarks[0] has no name"));
}

}  // namespace
}  // namespace kvbench
