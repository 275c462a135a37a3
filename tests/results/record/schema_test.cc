#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "results/compare/statistics.h"
#include "results/record/json_writer.h"
#include "tests/results/example_results.h"

// What the writer writes is valid, and tools/validate_results refuses planted mistakes.

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

struct Verdict {
  int exit_code = -1;
  std::string output;
};

class Schema : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(KVBENCH_PYTHON).empty()) {
      GTEST_SKIP()
          << "no Python with jsonschema was found when the build was configured; it is in the "
             "Debian package python3-jsonschema";
    }
    path_ = std::filesystem::temp_directory_path() /
            ("kvbench_schema_test_" + std::to_string(getpid()) + ".json");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  Verdict ValidateFile(const std::filesystem::path& path) {
    const std::string command = std::string(KVBENCH_PYTHON) + " '" + KVBENCH_SOURCE_DIR +
                                "/tools/validate_results' '" + path.string() + "' 2>&1";
    Verdict verdict;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) {
      return verdict;
    }
    std::array<char, 4096> buffer{};
    while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
      verdict.output.append(buffer.data(), n);
    }
    const int status = pclose(pipe);
    verdict.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return verdict;
  }

  Verdict Validate(const std::string& text) {
    std::ofstream(path_) << text;
    return ValidateFile(path_);
  }

  void ExpectValid(const ResultsFile& file) {
    const Verdict verdict = Validate(ResultsJson(file));
    EXPECT_EQ(verdict.exit_code, 0) << verdict.output;
  }

  /// Plants a mistake in a valid file and expects it to be found at that place.
  void ExpectRefused(const std::function<void(Json&)>& plant, const std::string& place) {
    Json json = Json::parse(ResultsJson(ExampleResults()));
    plant(json["runs"][3]);
    const Verdict verdict = Validate(json.dump());
    EXPECT_EQ(verdict.exit_code, 1) << verdict.output;
    EXPECT_THAT(verdict.output, HasSubstr(place));
  }

  std::filesystem::path path_;
};

TEST_F(Schema, AcceptsAFullRecord) { ExpectValid(ExampleResults()); }

TEST_F(Schema, AcceptsARunWithNothingCompleted) { ExpectValid(EmptyResults()); }

TEST_F(Schema, AcceptsAFileWithoutRuns) {
  ResultsFile file = ExampleResults();
  file.runs.clear();
  ExpectValid(file);
}

TEST_F(Schema, NanAndInfinityAreWrittenAsNull) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  ResultsFile file = ExampleResults();
  file.environment.read_roof_bytes_per_s = infinity;
  file.run_info.duration_s = nan;
  RunRecord& run = file.runs[3];
  run.duration = nan;
  run.output_throughput = infinity;
  run.request_throughput = -infinity;
  run.total_token_throughput = nan;
  run.ttft.values.fill(nan);
  run.tpot.values.fill(infinity);
  run.itl = Summarize({nan, infinity});
  run.goodput = nan;
  run.normalized_latency_mean_s_per_token = nan;
  run.mean_running_requests = nan;
  run.mean_waiting_requests = infinity;
  run.while_waiting = WhileWaiting{1, nan, nan, infinity};
  run.bound_by = {nan, nan, nan, nan};
  run.kv.usage_per_step->live = nan;
  run.kv.usage_over_time->free = infinity;
  run.kv.token_usage = nan;
  run.kv.waste_of_allocated = nan;
  run.kv.paper_fig2->reservation = nan;
  run.verification->max_relative_error = nan;
  run.verification->passed = false;
  run.phases->other = nan;
  run.samples.duration = {nan};
  run.timeline[1].time_s = nan;
  run.trace.request_rate = nan;
  ExpectValid(file);
}

TEST_F(Schema, TheSuppliedGoldenFilesAreValid) {
  const std::string golden = std::string(KVBENCH_SOURCE_DIR) + "/tests/results/golden/";
  EXPECT_EQ(ValidateFile(golden + "results.json").exit_code, 0);
  EXPECT_EQ(ValidateFile(golden + "empty.json").exit_code, 0);
}

TEST_F(Schema, RefusesAMissingKeyWhereverItIs) {
  ExpectRefused([](Json& run) { run.erase("goodput"); }, "$.runs[3]: 'goodput' is a required");
  ExpectRefused([](Json& run) { run["kv"]["usage_per_step"].erase("live"); },
                "$.runs[3].kv.usage_per_step: 'live' is a required");
}

TEST_F(Schema, RefusesAnUnknownKey) {
  ExpectRefused([](Json& run) { run["design"]["capacity"] = 1; }, "$.runs[3].design: Additional");
}

TEST_F(Schema, RefusesABadTypeOrValue) {
  ExpectRefused([](Json& run) { run["completed"] = "94"; }, "$.runs[3].completed: '94'");
  ExpectRefused([](Json& run) { run["steps"] = -1; }, "$.runs[3].steps: -1");
  ExpectRefused([](Json& run) { run["executor"]["kind"] = "tpu"; }, "$.runs[3].executor.kind");
  ExpectRefused([](Json& run) { run["trace"]["request_rate"] = "fast"; },
                "$.runs[3].trace.request_rate: 'fast'");
  ExpectRefused([](Json& run) { run["kv"]["usage_per_step"]["live"] = 1.5; },
                "$.runs[3].kv.usage_per_step.live: 1.5");
  ExpectRefused([](Json& run) { run["timeline"][0]["live"] = 0.5; }, "$.runs[3].timeline[0].live");
  ExpectRefused([](Json& run) { run["executor"]["kind"] = "modelled"; },
                "$.runs[3].executor.hardware");
}

TEST_F(Schema, RefusesSumsThatDoNotAddUp) {
  ExpectRefused([](Json& run) { run["kv"]["usage_over_time"]["live"] = 0.9; },
                "$.runs[3].kv.usage_over_time: the five shares add up to");
  ExpectRefused([](Json& run) { run["timeline"][1]["free"] = 3'935; },
                "$.runs[3].timeline[1]: the five parts add up to 3935, but capacity_slots is 3936");
  ExpectRefused([](Json& run) { run["bound_by"]["memory"] = 0.5; }, "$.runs[3].bound_by");
  ExpectRefused([](Json& run) { run["kv"]["paper_fig2"]["reservation"] = 7; },
                "$.runs[3].kv.paper_fig2");
  ExpectRefused([](Json& run) { run["rejected"] = 5; }, "$.runs[3].rejected_reasons");
}

TEST_F(Schema, RefusesFiguresThatContradictEachOther) {
  ExpectRefused([](Json& run) { run["p90_ttft_ms"] = 1e9; }, "p90 1000000000.0 is above p95");
  ExpectRefused([](Json& run) { run["p50_itl_ms"] = 1; }, "$.runs[3].p50_itl_ms: p50 is 1");
  ExpectRefused([](Json& run) { run["kv"]["token_usage"] = 0.5; }, "$.runs[3].kv.token_usage");
  ExpectRefused([](Json& run) { run["kv"]["waste_of_allocated"] = 0.5; },
                "$.runs[3].kv.waste_of_allocated");
  ExpectRefused([](Json& run) { run["output_throughput"] = 1; }, "$.runs[3].output_throughput");
  ExpectRefused([](Json& run) { run["samples"]["ttft_ms"].erase(0); },
                "$.runs[3].samples.ttft_ms: has 99 entries");
  ExpectRefused([](Json& run) { run["verification"]["max_relative_error"] = 1; },
                "$.runs[3].verification.passed");
}

TEST_F(Schema, RefusesTheSameLabelAndRepetitionTwice) {
  ResultsFile file = ExampleResults();
  file.runs.push_back(file.runs[0]);
  const Verdict verdict = Validate(ResultsJson(file));
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_THAT(verdict.output, HasSubstr("repetition 0 of this label is also runs[0]"));
}

TEST_F(Schema, RefusesWhatIsNoStrictJson) {
  std::string text = ResultsJson(ExampleResults());
  const size_t at = text.find("\"duration\": ") + 12;
  for (const char* literal : {"NaN", "Infinity", "-Infinity", "1e999"}) {
    std::string broken = text;
    broken.replace(at, broken.find(',', at) - at, literal);
    const Verdict verdict = Validate(broken);
    EXPECT_EQ(verdict.exit_code, 1);
    EXPECT_THAT(verdict.output, HasSubstr(literal));
  }
  EXPECT_EQ(Validate(text.substr(0, text.size() / 2)).exit_code, 1);
  EXPECT_EQ(Validate("").exit_code, 1);
  EXPECT_THAT(Validate(R"({"a": 1, "a": 2})").output, HasSubstr("'a' appears twice"));
}

TEST_F(Schema, AFileThatCannotBeReadIsExitCodeTwo) {
  EXPECT_EQ(ValidateFile("/nonexistent.json").exit_code, 2);
  EXPECT_EQ(Validate("\xff\xfe").exit_code, 2);
}

}  // namespace
}  // namespace kvbench
