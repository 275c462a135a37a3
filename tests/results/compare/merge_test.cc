#include "results/compare/merge.h"

#include <gmock/gmock.h>

#include <sstream>

#include "base/error.h"
#include "tests/results/compare/compare_case.h"

namespace kvbench {
namespace {

using testing::HasSubstr;

class MergeTest : public CompareCase {
 protected:
  Json Merge(const std::vector<std::string>& paths) {
    std::ostringstream out;
    std::vector<std::string> texts;
    for (const std::string& path : paths) {
      texts.push_back(Text(path));
    }
    std::vector<MergeInput> inputs;
    for (size_t i = 0; i < paths.size(); ++i) {
      inputs.push_back({paths[i], texts[i]});
    }
    summary_ = MergeResults(inputs, "kvbench merge a b", out);
    text_ = out.str();
    return Json::parse(text_);
  }
  static ResultsFile On(const std::string& day, ResultsFile file) {
    file.run_info.started_at = day + "T12:00:00Z";
    return file;
  }

  MergeSummary summary_;
  std::string text_;
};

TEST_F(MergeTest, RepetitionsFollowAndSamplesStay) {
  ResultsFile a = On("2025-01-30", ExampleResults());
  ResultsFile b = On("2025-01-31", ExampleResults());
  b.environment.read_roof_bytes_per_s = 3e10;
  b.runs[0].duration *= 2;
  b.kvbench.commit = "another";
  const std::string first = Write("a.json", a);
  const Json merged = Merge({first, Write("b.json", b)});
  EXPECT_EQ(summary_.runs, 16);
  EXPECT_EQ(summary_.labels, 6);
  EXPECT_EQ(merged["schema_version"], ResultsFile::kSchemaVersion);
  EXPECT_EQ(merged["environment"]["read_roof_bytes_per_s"], nullptr);
  EXPECT_EQ(merged["environment"]["cpu_model"], "Example CPU");
  EXPECT_EQ(merged["kvbench"]["commit"], nullptr);
  EXPECT_EQ(merged["run_info"]["started_at"], "2025-01-30T12:00:00Z");
  EXPECT_EQ(merged["run_info"]["duration_s"], 202.5);
  EXPECT_EQ(merged["run_info"]["command"], "kvbench merge a b");
  const Json& runs = merged["runs"];
  ASSERT_EQ(runs.size(), 16);
  EXPECT_EQ(runs[0]["repetition"], 0);
  EXPECT_EQ(runs[8]["repetition"], 1);
  EXPECT_EQ(runs[8]["label"], runs[0]["label"]);
  EXPECT_EQ(runs[15]["repetition"], 3);  // after the two of the first file
  EXPECT_EQ(runs[0]["origin"]["read_roof_bytes_per_s"], 2.5e10);
  EXPECT_EQ(runs[8]["origin"]["read_roof_bytes_per_s"], 3e10);
  EXPECT_EQ(runs[8]["origin"]["started_at"], "2025-01-31T12:00:00Z");
  EXPECT_EQ(runs[4]["origin"]["started_at"], "2025-01-30T12:00:00Z");  // had one: it stays
  EXPECT_EQ(runs[4]["origin"]["command"], "kvbench run quick.json --out monday.json");
  // Nothing else of a run has changed.
  Json before = Json::parse(ResultsJson(a))["runs"][3];
  Json after = runs[3];
  before.erase("origin");
  after.erase("origin");
  EXPECT_EQ(before, after);
  EXPECT_EQ(after["samples"]["ttft_ms"].size(), 100);
}

TEST_F(MergeTest, TheResultIsValidAndMergesAgain) {
  const std::string a = Write("a.json", On("2025-01-29", Repeated(9, 1)));
  const std::string b = Write("b.json", On("2025-01-30", Repeated(3, 1)));
  const std::string c = Write("c.json", On("2025-01-31", Repeated(2, 1.5)));
  Merge({a, b});
  const std::string ab = Write("ab.json", text_);
  if (!std::string(KVBENCH_PYTHON).empty()) {
    const std::string command = std::string(KVBENCH_PYTHON) + " '" + KVBENCH_SOURCE_DIR +
                                "/tools/validate_results' '" + ab + "' >/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
  const Json all = Merge({ab, c});
  ASSERT_EQ(all["runs"].size(), 14);
  for (size_t i = 0; i < 14; ++i) {
    EXPECT_EQ(all["runs"][i]["repetition"], i);
  }
  EXPECT_EQ(all["runs"][10]["origin"]["started_at"], "2025-01-30T12:00:00Z");
  // Days apart, with roofs of their own: compared as shares.
  const ComparedFile base = ParseComparedFile(Text(ab), ab);
  EXPECT_EQ(base.runs[0].roof->bytes_per_s, 2.5e10);
  const Comparison comparison = CompareFiles(base, ParseComparedFile(Text(a), a), {});
  EXPECT_TRUE(comparison.runs[0].timings[0].shares);
}

TEST_F(MergeTest, OldFilesGetWhatTheyLack) {
  Json old = Json::parse(ResultsJson(On("2025-01-30", Repeated(2, 1))));
  old["schema_version"] = "1.1";
  old["environment"].erase("read_roof_spread");
  for (Json& run : old["runs"]) {
    run.erase("origin");
  }
  const Json merged = Merge({Write("old.json", old.dump()), Write("b.json", Repeated(2, 1))});
  EXPECT_TRUE(merged["environment"].contains("read_roof_spread"));
  EXPECT_EQ(merged["runs"][0]["origin"]["started_at"], "2025-01-30T12:00:00Z");
  EXPECT_EQ(merged["runs"][3]["repetition"], 3);
}

TEST_F(MergeTest, WhatDoesNotBelongTogetherIsRefused) {
  const auto refusal = [&](const std::string& a, const std::string& b) {
    try {
      Merge({a, b});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("merged");
  };
  const std::string a = Write("a.json", On("2025-01-30", Repeated(2, 1)));
  EXPECT_THAT(refusal(a, a), HasSubstr("same invocation"));
  ResultsFile other = Repeated(2, 1);
  other.run_info.suite = "ci";
  EXPECT_THAT(refusal(a, Write("other.json", other)), HasSubstr("only files of one suite"));
  EXPECT_THAT(refusal(a, Write("cut.json", ResultsJson(Repeated(2, 1)).substr(0, 2000))),
              HasSubstr("cut.json: the JSON ends too early"));
  ResultsFile twice = Repeated(2, 1);
  twice.runs[1].repetition = 0;
  EXPECT_THAT(refusal(a, Write("twice.json", twice)), HasSubstr("twice"));
  EXPECT_THAT(refusal(a, Write("m.json", std::string("{\"benchmarks\": [{\"name\": \"x\", "
                                                     "\"real_time\": 1}]}"))),
              HasSubstr("only results files are merged"));
}

}  // namespace
}  // namespace kvbench
