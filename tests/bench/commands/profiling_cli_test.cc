// What a run tells a profiler and writes as a timeline, seen from outside the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/bench/commands/program.h"
#include "tests/bench/executors/documented_ranges.h"

namespace kvbench {
namespace profiling_cli {

using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

const std::string kTinyRun = "run --model '" KVBENCH_SOURCE_DIR
                             "/tests/data/tiny-gqa.json' --kv-memory 512KiB --max-model-len 128 "
                             "--lengths uniform:prompt=1-60:output=1-60 --requests 15 --seed 3 ";

class ProfilingTest : public testing::Test {
 protected:
  ProfilingTest()
      : dir_(fs::path(testing::TempDir()) /
             (std::string("kvbench_profiling_") +
              testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  ~ProfilingTest() override { fs::remove_all(dir_); }

  Outcome Kvbench(const std::string& arguments) const { return RunKvbench(dir_, arguments); }
  nlohmann::json Json(const std::string& file) const {
    return nlohmann::json::parse(ReadFile(dir_ / file));
  }
  void ExpectRefused(const std::string& arguments, const std::string& part) const {
    const Outcome outcome = Kvbench(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("kvbench: ")) << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(part)) << arguments;
    EXPECT_TRUE(fs::is_empty(dir_)) << arguments;
  }

  const std::map<std::string, DocumentedRange> documented_ = DocumentedRanges();
  fs::path dir_;
};

using TraceEventsCliTest = ProfilingTest;
using NvtxTest = ProfilingTest;

/// Microseconds with three digits behind the point, as nanoseconds.
int64_t Nanoseconds(const nlohmann::json& number) {
  return static_cast<int64_t>(number.get<double>() * 1000 + 0.5);
}

TEST_F(TraceEventsCliTest, EventsAreCompleteNestedAndAddUpToTheRun) {
  const Outcome outcome =
      Kvbench(kTinyRun + "--design contiguous-max,paged --trace-events e.json --out r.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("Trace events: e.json ("));
  const nlohmann::json file = Json("e.json");
  const nlohmann::json results = Json("r.json");
  struct Row {
    std::map<std::string, std::string> metadata;
    std::vector<std::pair<int64_t, std::string>> open;  // end and name
    std::map<std::string, int64_t> total_ns;
    std::map<std::string, int64_t> count;
  };
  std::map<int, Row> rows;
  for (const nlohmann::json& event : file.at("traceEvents")) {
    Row& row = rows[event.at("pid").get<int>()];
    EXPECT_EQ(event.at("tid"), 1);
    const auto name = event.at("name").get<std::string>();
    if (event.at("ph") == "M") {
      row.metadata[name] = event.at("args").begin()->dump();
      continue;
    }
    ASSERT_EQ(event.at("ph"), "X");
    ASSERT_TRUE(documented_.contains(name)) << name;
    const DocumentedRange& range = documented_.at(name);
    EXPECT_EQ(event.at("cat"), range.category);
    EXPECT_EQ(event.at("args").size(), range.numbers.size());
    for (const std::string& number : range.numbers) {
      EXPECT_TRUE(event.at("args").at(number).is_number_integer()) << name << " " << number;
    }
    const int64_t begin = Nanoseconds(event.at("ts"));
    const int64_t end = begin + Nanoseconds(event.at("dur"));
    ASSERT_GE(begin, 0);
    while (!row.open.empty() && row.open.back().first <= begin) {
      row.open.pop_back();
    }
    ASSERT_TRUE(range.MayLieIn(row.open.empty() ? "" : row.open.back().second))
        << name << " in " << (row.open.empty() ? "nothing" : row.open.back().second);
    ASSERT_TRUE(row.open.empty() || end <= row.open.back().first) << name << " ends too late";
    row.open.emplace_back(end, name);
    row.total_ns[name] += end - begin;
    ++row.count[name];
  }
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows[1].metadata["process_name"], HasSubstr("tiny-gqa contiguous-max"));
  EXPECT_THAT(rows[2].metadata["process_name"], HasSubstr("tiny-gqa paged 16"));
  for (int pid = 1; pid <= 2; ++pid) {
    Row& row = rows[pid];
    const nlohmann::json& record = results.at("runs").at(static_cast<size_t>(pid - 1));
    EXPECT_EQ(row.metadata["process_labels"], record.at("label").dump());
    EXPECT_EQ(row.metadata["thread_name"], "\"engine\"");
    EXPECT_EQ(row.count["run"], 1);
    EXPECT_EQ(row.count["step"], record.at("steps").get<int64_t>());
    EXPECT_EQ(row.count["bookkeeping"], row.count["step"] + 1);
    // All requests at once: the clock never jumps, and stands still only while outputs are
    // verified.
    const double seconds =
        1e-9 * static_cast<double>(row.total_ns["step"] + row.total_ns["bookkeeping"] -
                                   row.total_ns["verify"]);
    const auto duration = record.at("duration").get<double>();
    EXPECT_NEAR(seconds, duration, 0.05 * duration + 0.005);
    EXPECT_LE(row.total_ns["step"] + row.total_ns["bookkeeping"], row.total_ns["run"]);
  }
}

TEST_F(TraceEventsCliTest, RepetitionsAreProcessesOfTheirOwn) {
  ASSERT_EQ(Kvbench(kTinyRun + "--repetitions 2 --trace-events e.json").code, 0);
  std::set<std::string> names;
  const nlohmann::json file = Json("e.json");
  for (const nlohmann::json& event : file["traceEvents"]) {
    if (event["name"] == "process_name") {
      names.insert(event["args"]["name"].get<std::string>());
    }
  }
  EXPECT_EQ(names.size(), 2U);
}

TEST_F(TraceEventsCliTest, ModelledRunsHaveNone) {
  const std::string modelled = "--executor modelled --hardware a100-sxm4-40gb ";
  ExpectRefused(kTinyRun + modelled + "--trace-events e.json", "for measured runs");
  std::ofstream(dir_ / "both.json")
      << R"({"runs": [{"executor": "modelled", "hardware": "a100-sxm4-40gb"}, {}]})";
  const Outcome outcome = Kvbench("run both.json" + kTinyRun.substr(3) + "--trace-events e.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("Modelled runs have no trace events"));
  const nlohmann::json file = Json("e.json");
  EXPECT_FALSE(file["traceEvents"].empty());
  for (const nlohmann::json& event : file["traceEvents"]) {
    ASSERT_EQ(event["pid"], 1);
  }
}

TEST_F(TraceEventsCliTest, WhatCannotBeWrittenIsRefusedBeforeAnythingRuns) {
  ExpectRefused(kTinyRun + "--trace-events nowhere/e.json", "cannot write nowhere/e.json");
  ExpectRefused(kTinyRun + "--trace-events .", "cannot write .");
  ExpectRefused(kTinyRun + "--trace-events e.json --out e.json", "name the same file");
}

/// What the recorder wrote down.
struct NvtxLog {
  struct Push {
    std::string name;
    std::string inside;
    int64_t payload = 0;
  };
  std::vector<std::string> domains;
  std::map<int, std::string> categories;
  std::set<std::string> strings;
  std::vector<std::string> marks;
  std::vector<Push> pushes;
  size_t destroyed = 0;
  std::vector<std::string> open;  // at the end
};

NvtxLog ReadLog(const std::string& text, const std::map<std::string, DocumentedRange>& documented) {
  NvtxLog log;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what;
    std::string rest;
    int domain = 0;
    words >> what;
    if (what == "domain") {
      words >> rest;
      log.domains.push_back(rest);
      continue;
    }
    words >> domain;
    EXPECT_EQ(domain, 1) << line;
    if (what == "category") {
      int id = 0;
      words >> id >> rest;
      EXPECT_TRUE(log.categories.emplace(id, rest).second) << line;
    } else if (what == "string") {
      words >> rest;
      EXPECT_TRUE(log.strings.insert(rest).second) << line;
    } else if (what == "mark") {
      std::getline(words >> std::ws, rest);
      log.marks.push_back(rest);
    } else if (what == "push") {
      int category = 0;
      NvtxLog::Push push;
      words >> category >> push.payload >> push.name;
      EXPECT_FALSE(words.fail()) << line;  // a payload is a number, a name is registered
      push.inside = log.open.empty() ? "" : log.open.back();
      EXPECT_TRUE(documented.contains(push.name)) << line;
      EXPECT_EQ(log.categories[category], documented.at(push.name).category) << line;
      log.open.push_back(push.name);
      log.pushes.push_back(push);
    } else if (what == "pop") {
      EXPECT_FALSE(log.open.empty());
      log.open.pop_back();
    } else if (what == "destroy") {
      ++log.destroyed;
    } else {
      ADD_FAILURE() << line;
    }
  }
  return log;
}

TEST_F(NvtxTest, AToolSeesTheDocumentedRanges) {
  const std::string recorder = KVBENCH_NVTX_RECORDER;
  if (recorder.empty()) {
    GTEST_SKIP() << "built without NVTX's headers: they come with the CUDA toolkit";
  }
  const Outcome outcome =
      RunShell(dir_, "NVTX_INJECTION64_PATH='" + recorder + "' KVBENCH_NVTX_LOG=nvtx.log '" +
                         KVBENCH_PROGRAM "' " + kTinyRun +
                         "--design contiguous-max,paged --out r.json --trace-events e.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_TRUE(fs::exists(dir_ / "nvtx.log")) << "the recorder was not loaded";
  const NvtxLog log = ReadLog(ReadFile(dir_ / "nvtx.log"), documented_);
  EXPECT_EQ(log.domains, std::vector<std::string>{"kvbench"});
  EXPECT_EQ(log.destroyed, 1U);
  EXPECT_TRUE(log.open.empty()) << log.open.size() << " ranges were not popped";
  std::set<std::string> categories;
  for (const auto& [id, name] : log.categories) {
    EXPECT_GT(id, 0);
    categories.insert(name);
  }
  std::set<std::string> documented_categories;
  std::set<std::string> documented_names;
  for (const auto& [name, range] : documented_) {
    documented_names.insert(name);
    documented_categories.insert(range.category);
  }
  EXPECT_EQ(categories, documented_categories);
  EXPECT_EQ(log.strings, documented_names);
  ASSERT_EQ(log.marks.size(), 2U);
  EXPECT_THAT(log.marks[0], HasSubstr("contiguous-max"));
  EXPECT_THAT(log.marks[1], HasSubstr("paged 16"));
  for (const NvtxLog::Push& push : log.pushes) {
    ASSERT_TRUE(documented_.at(push.name).MayLieIn(push.inside))
        << push.name << " in " << push.inside;
  }
  // The very ranges of the trace-event file, with the first number of each as payload.
  size_t index = 0;
  const nlohmann::json file = Json("e.json");
  for (const nlohmann::json& event : file["traceEvents"]) {
    if (event["ph"] == "M") {
      continue;
    }
    ASSERT_LT(index, log.pushes.size());
    const NvtxLog::Push& push = log.pushes[index++];
    ASSERT_EQ(push.name, event["name"]);
    ASSERT_EQ(push.payload, event["args"][documented_.at(push.name).numbers[0]]) << push.name;
  }
  EXPECT_EQ(index, log.pushes.size());
}

TEST_F(NvtxTest, AToolThatCannotBeLoadedDoesNoHarm) {
  const Outcome outcome = RunShell(
      dir_, "NVTX_INJECTION64_PATH=/nowhere.so '" KVBENCH_PROGRAM "' " + kTinyRun + "--out r.json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

}  // namespace profiling_cli
}  // namespace kvbench
