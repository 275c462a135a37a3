#include "results/record/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "results/record/json_writer.h"
#include "tests/results/example_results.h"

namespace kvbench {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

/// What is wrong with a text; empty where nothing is.
std::string Problem(const std::string& text) {
  try {
    ParseResults(text);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// The example with one value replaced.
std::string With(const std::string& pointer, const Json& value) {
  Json json = Json::parse(ResultsJson(ExampleResults()));
  json[Json::json_pointer(pointer)] = value;
  return json.dump();
}

TEST(JsonReader, ReadsWhatIsWritten) {
  for (const ResultsFile& file : {ExampleResults(), EmptyResults(), ResultsFile()}) {
    const std::string text = ResultsJson(file);
    EXPECT_EQ(ResultsJson(ParseResults(text)), text);
    const std::string dense = Json::parse(text).dump();  // without any space
    EXPECT_EQ(ResultsJson(ParseResults(dense)), text);
  }
}

TEST(JsonReader, TimelinesCanBePassedOver) {
  const ResultsFile file =
      ParseResults(ResultsJson(ExampleResults()), {.wants_timeline = NoTimeline});
  ASSERT_EQ(file.runs.size(), ExampleResults().runs.size());
  for (const RunRecord& run : file.runs) {
    EXPECT_TRUE(run.timeline.empty());
  }
}

// Wherever a file is cut, it is a sentence that says so.
TEST(JsonReader, TruncatedAnywhere) {
  const std::string text = ResultsJson(ExampleResults());
  for (size_t size = 1; size + 2 < text.size(); size += size < 500 ? 1 : 97) {
    const std::string problem = Problem(text.substr(0, size));
    ASSERT_THAT(problem, HasSubstr("cut off")) << size;
  }
  EXPECT_EQ(Problem(""), "the file is empty");
}

TEST(JsonReader, NoJson) {
  EXPECT_THAT(Problem("{\"schema_version\": \"1.1\",\n x}"), HasSubstr("no JSON in line 2"));
  EXPECT_THAT(Problem("a,b,c\n1,2,3\n"), HasSubstr("no JSON in line 1"));
  EXPECT_EQ(Problem("[1, 2]"), "this is JSON, but no object");
  std::string text = ResultsJson(ExampleResults());
  text.replace(text.find("\"steps\": "), 9, "\"steps\": x");
  EXPECT_THAT(Problem(text), HasSubstr("no JSON in line"));
  EXPECT_THAT(Problem(ResultsJson(ExampleResults()) + "}"), HasSubstr("no JSON in line"));
}

TEST(JsonReader, Versions) {
  EXPECT_EQ(Problem(With("/schema_version", "1.0")), "");
  EXPECT_EQ(Problem(With("/schema_version", "1.99")), "");
  for (const char* version : {"2.0", "0.9", "1", "1.", "11.0", "1.x", ""}) {
    EXPECT_THAT(Problem(With("/schema_version", version)), HasSubstr("this kvbench reads 1.x"))
        << version;
  }
  EXPECT_THAT(Problem(With("/schema_version", nullptr)), HasSubstr("no schema_version"));
}

TEST(JsonReader, KeysOfANewerMinorVersionArePassedOver) {
  Json json = Json::parse(ResultsJson(ExampleResults()));
  json["new_key"] = {{"a", Json::array({1, 2})}};
  json["runs"][3]["new_key"] = "new";
  json["runs"][3]["kv"]["new_key"] = nullptr;
  json["runs"][3]["timeline"][0]["new_key"] = 1.5;
  EXPECT_EQ(ResultsJson(ParseResults(json.dump())), ResultsJson(ExampleResults()));
}

TEST(JsonReader, NamesTheKeyThatIsWrong) {
  EXPECT_EQ(Problem(With("/runs/3/duration", nullptr)),
            "runs[3].duration is null or missing; a number is needed there");
  EXPECT_EQ(Problem(With("/runs/0/kv/usage_per_step/live", "much")),
            "runs[0].kv.usage_per_step.live is the text 'much'; a number is needed there");
  EXPECT_EQ(Problem(With("/runs/1/steps", 1.5)),
            "runs[1].steps is 1.5; a whole number is needed there");
  EXPECT_EQ(Problem(With("/runs/1/notes", Json::array({1}))),
            "runs[1].notes[0] is 1; text is needed there");
  EXPECT_EQ(Problem(With("/runs/1", 7)), "runs[1] is no object");
  EXPECT_EQ(Problem(With("/runs", nullptr)), "there is no list of runs");
  EXPECT_EQ(Problem(With("/runs/3/timeline/1/free", nullptr)),
            "runs[3].timeline[1].free is null; a number is needed there");
  EXPECT_THAT(Problem(With("/runs/3/timeline/1", 5)), HasSubstr("a number; an object"));
  EXPECT_THAT(Problem(With("/runs/3/samples/preemptions", Json::array())),
              HasSubstr("lists of different lengths"));
  EXPECT_THAT(Problem(With("/runs/0/trace/request_rate", "fast")), HasSubstr("\"inf\" or null"));
  EXPECT_EQ(Problem(With("/runs/1/steps", 1304.0)), "");
}

TEST(JsonReader, Kinds) {
  EXPECT_EQ(KindOfResults(ResultsJson(ExampleResults())), ResultsKind::kResults);
  EXPECT_EQ(KindOfResults(R"({"context": {"a": "}"}, "benchmarks": []})"), ResultsKind::kBenchmark);
  EXPECT_EQ(KindOfResults(R"({"format": "kvbench paper 1", "sections": []})"), ResultsKind::kPaper);
  EXPECT_EQ(KindOfResults(R"({"other": 1})"), ResultsKind::kUnknown);
  EXPECT_EQ(KindOfResults(""), ResultsKind::kUnknown);
}

}  // namespace
}  // namespace kvbench
