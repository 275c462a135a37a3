// `kvbench export` as a user runs it, and what the commands that read results say of broken files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/bench/commands/program.h"

namespace kvbench {
namespace export_cli {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;

/// A folder with a results file r.json, made once.
const std::filesystem::path& Folder() {
  static const std::filesystem::path folder = [] {
    const std::filesystem::path path = testing::TempDir() + "/kvbench_export";
    std::filesystem::create_directories(path);
    const Outcome made =
        RunKvbench(path,
                   "run --model opt-13b --design contiguous-max,paged --executor modelled "
                   "--hardware a100-sxm4-40gb --lengths sharegpt --rate 2 --requests 60 "
                   "--detailed --out r.json");
    EXPECT_EQ(made.code, 0) << made.err;
    return path;
  }();
  return folder;
}

Outcome Kvbench(const std::string& arguments) { return RunKvbench(Folder(), arguments); }

void Save(const std::string& name, const std::string& text) {
  std::ofstream(Folder() / name) << text;
}

Json Results() { return Json::parse(ReadFile(Folder() / "r.json")); }

TEST(ExportCliTest, VllmALineARun) {
  const Outcome outcome = Kvbench("export r.json --format vllm");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  const Json results = Results();
  size_t runs = 0;
  for (std::string line; std::getline(lines, line); ++runs) {
    const Json json = Json::parse(line);
    EXPECT_EQ(json["label"], results["runs"][runs]["label"]);
    EXPECT_EQ(json["p99_ttft_ms"], results["runs"][runs]["p99_ttft_ms"]);
    EXPECT_EQ(json["ttfts"].size(), 60U);
  }
  EXPECT_EQ(runs, 2U);
}

TEST(ExportCliTest, VllmAFileARun) {
  std::filesystem::create_directories(Folder() / "vllm");
  EXPECT_EQ(Kvbench("export r.json --format vllm --out vllm").code, 0);
  EXPECT_EQ(Json::parse(ReadFile(Folder() / "vllm" / "run-0001.json"))["kvbench_design"],
            Results()["runs"][1]["design"]["name"]);
}

TEST(ExportCliTest, CsvOfSomeRuns) {
  const Outcome outcome = Kvbench("export r.json --format csv --only design=paged --out r.csv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string csv = ReadFile(Folder() / "r.csv");
  EXPECT_THAT(csv, StartsWith("label,repetition,model.name,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 2);
  EXPECT_THAT(Kvbench("export r.json --format csv --only design=page").err,
              HasSubstr("no run has"));
}

TEST(ExportCliTest, TheTraceComesBackWithItsDigest) {
  const Outcome outcome = Kvbench("export r.json --format trace --out t.jsonl");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string digest = Results()["runs"][0]["trace"]["sha256"];
  EXPECT_THAT(outcome.err, HasSubstr("60 requests, sha256 " + digest));
  EXPECT_THAT(Kvbench("trace stats t.jsonl").out, HasSubstr(digest));
}

TEST(ExportCliTest, ATraceWithoutItsRejectedRequestsSaysSo) {
  Json results = Results();
  for (Json& run : results["runs"]) {
    run["samples"]["output_lens"][7] = 0;
    run["samples"]["e2el_ms"][7] = nullptr;
  }
  Save("rejected.json", results.dump());
  const Outcome outcome = Kvbench("export rejected.json --format trace");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("1 requests are left out"));
}

TEST(ExportCliTest, TracesThatCannotBeExported) {
  Json results = Results();
  results["runs"][0]["trace"]["sha256"] = std::string(64, 'a');
  Save("two_traces.json", results.dump());
  EXPECT_THAT(Kvbench("export two_traces.json --format trace").err, HasSubstr("have 2 traces"));
  EXPECT_EQ(Kvbench("export two_traces.json --format trace --only design=paged").code, 0);
  for (Json& run : results["runs"]) {
    run["samples"]["arrival_s"] = nullptr;
  }
  Save("short.json", results.dump());
  EXPECT_THAT(Kvbench("export short.json --format trace --only design=paged").err,
              HasSubstr("kvbench run --detailed"));
}

// One sentence and exit code 2, from every command that reads results.
TEST(ExportCliTest, BrokenInput) {
  const std::string text = ReadFile(Folder() / "r.json");
  Json results = Results();
  const auto save = [&](const std::string& name, const std::string& pointer, const Json& value) {
    Json changed = results;
    changed[Json::json_pointer(pointer)] = value;
    Save(name, changed.dump());
  };
  Save("truncated.json", text.substr(0, text.size() / 2));
  Save("empty.json", "");
  Save("text.json", "hello\n");
  Save("other.json", "{\"a\": 1}");
  save("version.json", "/schema_version", "2.0");
  save("no_runs.json", "/runs", Json::array());
  save("null.json", "/runs/1/duration", nullptr);
  save("null_label.json", "/runs/0/label", nullptr);
  save("twice.json", "/runs/1/label", results["runs"][0]["label"]);
  save("suite.json", "/run_info/suite", "quick");
  const std::pair<const char*, const char*> cases[] = {
      {"truncated.json", "truncated.json: the JSON ends too early"},
      {"empty.json", "empty.json: the file is empty"},
      {"text.json", "text.json: this is no JSON in line 1"},
      {"other.json", "other.json: there is no schema_version"},
      {"version.json", "version.json: schema_version is '2.0'"},
      {"no_runs.json", "no_runs.json holds no runs"},
      {"null.json", "null.json: runs[1].duration is null"},
      {"null_label.json", "null_label.json: runs[0].label is null"},
      {"twice.json", "twice.json has two runs with the label"},
      {"r.json r.json", "r.json has two runs with the label"},
      {"r.json suite.json", "r.json is of no suite and suite.json of suite 'quick'"},
      {"missing.json", "cannot read missing.json"},
      {".", "it is a folder"},
  };
  for (const char* command : {KVBENCH_READERS}) {
    for (const auto& [file, sentence] : cases) {
      std::string words = command;
      words.replace(words.find('@'), 1, file);
      const Outcome outcome = Kvbench(words);
      EXPECT_EQ(outcome.code, 2) << words;
      EXPECT_THAT(outcome.err, HasSubstr(sentence)) << words;
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
      EXPECT_EQ(outcome.out, "") << words;
    }
  }
  save("newer.json", "/schema_version", "1.99");
  EXPECT_EQ(Kvbench("export newer.json --format csv").code, 0);
}

// As they stand there, one after the other.
TEST(ExportCliTest, ExamplesOfTheHelpWork) {
  const std::filesystem::path program = KVBENCH_PROGRAM;
  for (const std::string command : {"export", "report"}) {
    const Outcome outcome =
        RunShell(Folder(), "mkdir -p " + command + " && cd " + command + " && PATH='" +
                               program.parent_path().string() + "':$PATH && kvbench " + command +
                               " --help | sed '1,/^Examples/d' >examples && grep -c kvbench "
                               "examples && { bash -e examples || test $? = 3; }");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
}

TEST(ExportCliTest, Refusals) {
  EXPECT_EQ(Kvbench("export r.json --format xml").code, 2);
  EXPECT_EQ(Kvbench("export --format csv").code, 2);
  const Outcome nowhere = Kvbench("export r.json --format csv --out /no/such/folder/x.csv");
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("cannot write /no/such/folder/x.csv"));
  EXPECT_EQ(Kvbench("export r.json --format csv --out /dev/full").code, 2);
}

}  // namespace export_cli
}  // namespace kvbench
