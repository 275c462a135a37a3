#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "results/export/export_csv.h"
#include "results/export/export_vllm.h"
#include "tests/results/example_results.h"

namespace kvbench {
namespace {

std::vector<std::string> CsvLines(const ResultsFile& file) {
  std::vector<const RunRecord*> runs;
  for (const RunRecord& run : file.runs) {
    runs.push_back(&run);
  }
  std::ostringstream out;
  WriteRunsCsv(runs, out);
  std::istringstream in(out.str());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

TEST(ExportCsv, GoldenFile) {
  std::string text;
  for (const std::string& line : CsvLines(ExampleResults())) {
    text += line + "\n";
  }
  ExpectGolden(text, "runs.csv");
}

TEST(ExportCsv, EveryRowHasEveryColumn) {
  const auto columns = [](const std::string& line) {
    int64_t count = 1;
    bool quoted = false;
    for (const char c : line) {
      quoted = quoted != (c == '"');
      count += c == ',' && !quoted ? 1 : 0;
    }
    return count;
  };
  const auto full = CsvLines(ExampleResults());
  const auto empty = CsvLines(EmptyResults());
  EXPECT_EQ(full.front(), empty.front());
  EXPECT_THAT(full.front(), testing::HasSubstr(",kv.usage_per_step.live,"));
  EXPECT_THAT(full.front(), testing::HasSubstr(",p99_ttft_ms,"));
  EXPECT_THAT(full.front(), testing::HasSubstr(",verification.passed,"));
  EXPECT_EQ(columns(empty[1]), columns(empty[0]));
  for (size_t i = 1; i < full.size(); ++i) {
    EXPECT_EQ(columns(full[i]), columns(full[0]));
  }
}

TEST(ExportCsv, FieldsAreQuotedWhereTheyHaveTo) {
  EXPECT_EQ(CsvField("plain text"), "plain text");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"a\""), "\"say \"\"a\"\"\"");
  EXPECT_EQ(CsvField("two\nlines"), "\"two\nlines\"");
}

TEST(ExportVllm, GoldenFile) {
  std::string text;
  const ResultsFile file = ExampleResults();
  for (const RunRecord& run : file.runs) {
    text += VllmJson(file, run).dump() + "\n";
  }
  ExpectGolden(text, "vllm.jsonl");
}

// What scripts for vLLM's files look at, with its units: statistics in ms, lists in seconds.
TEST(ExportVllm, KeysAndUnits) {
  const ResultsFile file = ExampleResults();
  const RunRecord& run = file.runs[3];
  const auto json = VllmJson(file, run);
  EXPECT_EQ(json["date"], "20250131-120000");
  EXPECT_EQ(json["request_rate"], "inf");
  EXPECT_EQ(json["median_ttft_ms"], *run.ttft["median"]);
  EXPECT_EQ(json["completed"].get<int64_t>() + json["failed"].get<int64_t>(), 100);
  EXPECT_EQ(json["ttfts"].size(), 100U);
  EXPECT_EQ(json["ttfts"][10], 0.125);  // 125 ms
  EXPECT_EQ(json["ttfts"][0], 0.0);     // rejected
  EXPECT_EQ(json["queue_times"].size(), 100U);
  EXPECT_EQ(json["queue_times"][10], 0.0625);  // 62.5 ms
  EXPECT_EQ(json["queue_times"][0], 0.0);
  EXPECT_EQ(json["errors"][0], "rejected or not finished");
  EXPECT_EQ(json["errors"][10], "");
  for (const char* key : {"tokenizer_id", "burstiness", "itls", "generated_texts", "rtfx",
                          "max_output_tokens_per_s", "request_goodput"}) {
    EXPECT_TRUE(json.contains(key) && json[key].is_null()) << key;
  }
  EXPECT_FALSE(VllmJson(file, file.runs[0]).contains("ttfts"));
  const ResultsFile empty = EmptyResults();
  EXPECT_TRUE(VllmJson(empty, empty.runs[0])["mean_ttft_ms"].is_null());
}

}  // namespace
}  // namespace kvbench
