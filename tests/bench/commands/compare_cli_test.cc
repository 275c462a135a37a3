// kvbench compare and merge as a user runs them: exit codes, sentences, files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/bench/commands/program.h"

namespace kvbench {
namespace compare_cli {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::ordered_json;

const char* const kModelled =
    "run --executor modelled --hardware a100-sxm4-40gb --model opt-13b --lengths sharegpt --rate 4 "
    "--requests 60 --seed 1 --design contiguous-max,paged ";
const std::string kMeasured =
    "run --model " KVBENCH_SOURCE_DIR
    "/tests/data/tiny-gqa.json --kv-memory 512KiB --max-model-len 128 --lengths "
    "uniform:prompt=1-30:output=1-30 --requests 12 --seed 3 --threads 1 --design paged ";

class CompareCliTest : public testing::Test {
 protected:
  CompareCliTest()
      : dir_(fs::path(testing::TempDir()) /
             (std::string("kvbench_compare_cli_") +
              testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  ~CompareCliTest() override { fs::remove_all(dir_); }

  Outcome Kvbench(const std::string& arguments) const { return RunKvbench(dir_, arguments); }
  Json Load(const std::string& name) const { return Json::parse(ReadFile(dir_ / name)); }
  void Save(const std::string& name, const Json& json) const {
    std::ofstream(dir_ / name) << json.dump();
  }
  void ExpectRefused(const std::string& arguments, const std::string& part) const {
    const Outcome outcome = Kvbench(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments << "\n" << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("kvbench: ")) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(part)) << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }

  fs::path dir_;
};

TEST_F(CompareCliTest, AModelledRunAgainAndAChangedOne) {
  ASSERT_EQ(Kvbench(std::string(kModelled) + "--out a.json").code, 0);
  ASSERT_EQ(Kvbench(std::string(kModelled) + "--step-by-step --out b.json").code, 0);
  const Outcome same = Kvbench("compare a.json b.json");
  EXPECT_EQ(same.code, 0);
  EXPECT_THAT(same.out, HasSubstr("2 same (of 2 runs)"));
  Json changed = Load("b.json");
  changed["runs"][1]["preemptions"] = 999;
  Save("c.json", changed);
  const Outcome outcome = Kvbench("compare a.json c.json");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("-> 999"));
  EXPECT_THAT(outcome.out, HasSubstr("1 same, 1 changed (of 2 runs)"));
  // Several new files, each against the base.
  const Outcome both = Kvbench("compare a.json b.json c.json --format json");
  EXPECT_EQ(both.code, 1);
  EXPECT_EQ(Json::parse(both.out)["comparisons"].size(), 2);
}

TEST_F(CompareCliTest, EveryFormatIsWritten) {
  ASSERT_EQ(Kvbench(std::string(kModelled) + "--out a.json").code, 0);
  EXPECT_THAT(Kvbench("compare a.json a.json --format markdown").out, StartsWith("### kvbench"));
  EXPECT_THAT(Kvbench("compare a.json a.json --format junit").out, StartsWith("<?xml"));
  EXPECT_THAT(Kvbench("compare a.json a.json --format github").out, StartsWith("::notice"));
  EXPECT_THAT(Kvbench("compare a.json a.json --format json").out, StartsWith("{"));
  const Outcome outcome = Kvbench("compare a.json a.json --format junit --out c.xml");
  EXPECT_THAT(outcome.out, HasSubstr("2 same"));
  EXPECT_THAT(ReadFile(dir_ / "c.xml"), StartsWith("<?xml"));
}

TEST_F(CompareCliTest, BadInputIsASentence) {
  ASSERT_EQ(Kvbench(std::string(kModelled) + "--out a.json").code, 0);
  const std::string text = ReadFile(dir_ / "a.json");
  std::ofstream(dir_ / "cut.json") << text.substr(0, text.size() / 2);
  Json json = Load("a.json");
  const auto variant = [&](const std::string& name, const std::function<void(Json&)>& plant) {
    Json copy = json;
    plant(copy);
    Save(name, copy);
  };
  variant("newer.json", [](Json& j) { j["schema_version"] = "1.99"; });
  variant("other.json", [](Json& j) { j["schema_version"] = "2.0"; });
  variant("suite.json", [](Json& j) { j["run_info"]["suite"] = "quick"; });
  variant("twice.json", [](Json& j) { j["runs"].push_back(j["runs"][0]); });
  variant("empty.json", [](Json& j) { j["runs"] = Json::array(); });
  variant("null.json", [](Json& j) { j["runs"][0]["label"] = nullptr; });
  EXPECT_EQ(Kvbench("compare a.json newer.json").code, 0);
  for (const char* command : {"compare a.json ", "compare --threshold 10% a.json a.json ",
                              "merge --out m.json a.json "}) {
    ExpectRefused(std::string(command) + "cut.json", "ends too early");
    ExpectRefused(std::string(command) + "other.json", "schema_version is '2.0'");
    ExpectRefused(std::string(command) + "suite.json", "suite");
    ExpectRefused(std::string(command) + "twice.json", "twice");
    ExpectRefused(std::string(command) + "empty.json", "no runs in it");
    ExpectRefused(std::string(command) + "null.json", "null");
    ExpectRefused(std::string(command) + "nowhere.json", "cannot read");
  }
  EXPECT_FALSE(fs::exists(dir_ / "m.json"));
  ExpectRefused("compare a.json", "needs a base and a new");
  ExpectRefused("compare a.json a.json --format html", "text, markdown, json, junit and github");
  ExpectRefused("compare a.json a.json --threshold -1", "--threshold");
  ExpectRefused("compare a.json a.json --out /nowhere/c.txt", "cannot write");
  ExpectRefused("compare --exec a b", "two programs and a suite");
  ExpectRefused("merge a.json --out m.json", "two results files");
}

TEST_F(CompareCliTest, MeasuredFilesMergeAndKeepTheirRoofs) {
  ASSERT_EQ(Kvbench(kMeasured + "--repetitions 5 --read-roof --out a.json").code, 0);
  ASSERT_EQ(Kvbench(kMeasured + "--repetitions 4 --out b.json").code, 0);
  EXPECT_GT(Load("a.json")["environment"]["read_roof_bytes_per_s"], 1e8);
  EXPECT_GE(Load("a.json")["environment"]["read_roof_spread"], 0);
  const Outcome few = Kvbench("compare a.json b.json");
  EXPECT_EQ(few.code, 0);
  EXPECT_THAT(few.out, HasSubstr("needs 9 repetitions, has 4"));
  ASSERT_EQ(Kvbench("merge a.json b.json --out ab.json").code, 0);
  const Json merged = Load("ab.json");
  ASSERT_EQ(merged["runs"].size(), 9);
  EXPECT_GT(merged["runs"][0]["origin"]["read_roof_bytes_per_s"], 1e8);
  EXPECT_TRUE(merged["runs"][8]["origin"]["read_roof_bytes_per_s"].is_null());
  EXPECT_EQ(merged["runs"][8]["repetition"], 8);
  EXPECT_THAT(Kvbench("compare ab.json ab.json").out, testing::Not(HasSubstr("needs 9")));
  if (!std::string(KVBENCH_PYTHON).empty()) {
    const Outcome valid = RunShell(dir_, "'" KVBENCH_PYTHON "' '" KVBENCH_SOURCE_DIR
                                         "/tools/validate_results' a.json ab.json");
    EXPECT_EQ(valid.code, 0) << valid.err;
  }
}

TEST_F(CompareCliTest, ProgramsTakeTurns) {
  std::ofstream(dir_ / "suite.json")
      << R"({"model": ")" KVBENCH_SOURCE_DIR
         R"(/tests/data/tiny-gqa.json", "kv-memory": "512KiB", "max-model-len": 128, "requests": 12,
          "lengths": "uniform:prompt=1-30:output=1-30", "threads": 1, "design": "paged"})";
  std::ofstream(dir_ / "modelled.json")
      << R"({"executor": "modelled", "hardware": "a100-sxm4-40gb", "model": "opt-13b",
             "lengths": "sharegpt", "requests": 50, "design": ["contiguous-max", "paged"]})";
  const std::string program = "'" KVBENCH_PROGRAM "' ";
  const Outcome measured = Kvbench("compare --exec " + program + program + "suite.json --budget 2");
  EXPECT_EQ(measured.code, 0) << measured.err;
  EXPECT_THAT(measured.out, HasSubstr("2 pairs of at most 2: the budget of 2 pairs is spent"));
  EXPECT_THAT(measured.out, HasSubstr("needs 6 pairs, has 2"));
  const Outcome modelled = Kvbench("compare --exec " + program + program + "modelled.json");
  EXPECT_EQ(modelled.code, 0) << modelled.err;
  EXPECT_THAT(modelled.out, HasSubstr("1 pair of at most 60: every run has a verdict"));
  EXPECT_THAT(modelled.out, HasSubstr("2 same (of 2 runs)"));
  ExpectRefused("compare --exec " + program + program + "nowhere", "failed with exit code 2");
}

TEST_F(CompareCliTest, ThePlantedWaitIsSaidInTheRecord) {
  const Outcome outcome = RunShell(
      dir_, "KVBENCH_TEST_BUSY_WAIT=0.1 '" KVBENCH_PROGRAM "' " + kMeasured + "--out slow.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(Load("slow.json")["runs"][0]["notes"].dump(),
              HasSubstr("KVBENCH_TEST_BUSY_WAIT made every step 10 % longer"));
}

constexpr int kManyRuns = 10'000;

/// The most memory that a child has had so far, in KiB.
int64_t PeakOfChildren() {
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  return usage.ru_maxrss;
}

TEST_F(CompareCliTest, TenThousandRunsFitIntoAGiB) {
  ASSERT_EQ(Kvbench(std::string(kModelled) + "--out one.json").code, 0);
  Json file = Load("one.json");
  const Json run = file["runs"][1];
  file["runs"] = Json::array();
  std::string text = file.dump();
  text.resize(text.size() - 2);  // up to the runs
  const std::string one = run.dump();
  const auto label = run["label"].get<std::string>();
  const size_t at = one.find(label) + label.size();
  std::ofstream many(dir_ / "many.json");
  many << text;
  for (int i = 0; i < kManyRuns; ++i) {
    many << (i > 0 ? "," : "") << one.substr(0, at) << " x=" << i << one.substr(at);
  }
  many << "]}";
  many.close();
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = Kvbench("compare many.json many.json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(PeakOfChildren(), 1 << 20);
  EXPECT_THAT(outcome.out, HasSubstr("000 same (of "));
  RecordProperty("milliseconds", static_cast<int>(std::chrono::duration<double, std::milli>(
                                                      std::chrono::steady_clock::now() - begin)
                                                      .count()));
}

TEST_F(CompareCliTest, HelpHasExamples) {
  EXPECT_THAT(Kvbench("compare --help").out, HasSubstr("kvbench compare base.json new.json"));
  EXPECT_THAT(Kvbench("merge --help").out, HasSubstr("--out both.json"));
}

}  // namespace compare_cli
}  // namespace kvbench
