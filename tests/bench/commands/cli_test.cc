// The program as a user runs it: exit codes, sentences, files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/bench/commands/program.h"

namespace kvbench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

const std::string kTiny = KVBENCH_SOURCE_DIR "/tests/data/tiny-gqa.json";
const std::string kAzure =
    KVBENCH_SOURCE_DIR "/../shared/data/traces/azure/AzureLLMInferenceTrace_conv.csv";

class CliTest : public testing::Test {
 protected:
  CliTest()
      : dir_(fs::path(testing::TempDir()) /
             (std::string("kvbench_cli_") +
              testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  ~CliTest() override { fs::remove_all(dir_); }

  /// Runs a shell command in the test's folder.
  Outcome Shell(const std::string& command) const { return RunShell(dir_, command); }
  Outcome Kvbench(const std::string& arguments) const { return RunKvbench(dir_, arguments); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ / name, std::ios::binary) << text;
    return name;
  }

  /// Exit code 2 and one sentence with all of `parts`, and nothing at r.json or beside it.
  void ExpectRefused(const std::string& arguments, const std::vector<std::string>& parts) const {
    const Outcome outcome = Kvbench(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("kvbench: ")) << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const std::string& part : parts) {
      EXPECT_THAT(outcome.err, HasSubstr(part)) << arguments;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(dir_)) {
      EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("r.json"))) << arguments;
    }
  }

  void ExpectValid(const std::string& file) const {
    const Outcome outcome =
        Shell("'" KVBENCH_PYTHON "' '" KVBENCH_SOURCE_DIR "/tools/validate_results' " + file);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  }
  nlohmann::json Json(const std::string& file) const {
    return nlohmann::json::parse(ReadFile(dir_ / file));
  }

  fs::path dir_;
};

const char* const kSmall =
    " --kv-memory 512KiB --max-model-len 128 --lengths uniform:prompt=1-60:output=1-60 --requests "
    "30 --seed 3 ";
const char* const kAllDesigns = " --design contiguous-max,contiguous-pow2,contiguous-oracle,paged ";

TEST_F(CliTest, HelpAndVersion) {
  EXPECT_THAT(Kvbench("--version").out, StartsWith("kvbench 0."));
  for (const char* arguments : {"--help", "run --help", "trace --help", "trace make --help",
                                "trace convert --help", "trace stats --help", "info --help"}) {
    const Outcome outcome = Kvbench(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments;
    EXPECT_FALSE(outcome.out.empty());
  }
  EXPECT_EQ(Kvbench("").code, 2);
  EXPECT_EQ(Kvbench("walk").code, 2);
  EXPECT_EQ(Kvbench("run --blocksize 4").code, 2);
}

TEST_F(CliTest, RunsEveryDesignOnTheSameTrace) {
  const Outcome outcome =
      Kvbench("run --model " + kTiny + kSmall + kAllDesigns + "--detailed --out r.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* word : {"contiguous-max", "contiguous-pow2", "contiguous-oracle", "paged"}) {
    EXPECT_THAT(outcome.out, HasSubstr(word));
  }
  ExpectValid("r.json");
  const nlohmann::json results = Json("r.json");
  ASSERT_EQ(results["runs"].size(), 4U);
  for (const nlohmann::json& run : results["runs"]) {
    EXPECT_EQ(run["trace"]["sha256"], results["runs"][0]["trace"]["sha256"]);
    EXPECT_EQ(run["completed"], 30);
    EXPECT_TRUE(run["verification"]["passed"].get<bool>());
    EXPECT_GE(run["verification"]["checked"].get<int>(), 16);
  }
  EXPECT_GT(results["runs"][0]["kv"]["waste_of_allocated"].get<double>(),
            results["runs"][3]["kv"]["waste_of_allocated"].get<double>());
}

TEST_F(CliTest, TheSameSeedGivesTheSameAdmissionsStepsAndUsage) {
  const std::string command =
      "run --model " + kTiny + kSmall + kAllDesigns + "--chunked-prefill on,off ";
  ASSERT_EQ(Kvbench(command + "--threads 1 --out a.json").code, 0);
  ASSERT_EQ(Kvbench(command + "--threads 2 --out b.json").code, 0);
  const nlohmann::json a = Json("a.json");
  const nlohmann::json b = Json("b.json");
  ASSERT_EQ(a["runs"].size(), 8U);
  for (size_t i = 0; i < a["runs"].size(); ++i) {
    for (const char* key : {"completed", "rejected", "steps", "preemptions", "recomputed_tokens",
                            "peak_running_requests", "mean_running_requests", "bound_by"}) {
      EXPECT_EQ(a["runs"][i][key], b["runs"][i][key]) << key;
    }
    EXPECT_EQ(a["runs"][i]["trace"]["sha256"], b["runs"][i]["trace"]["sha256"]);
    EXPECT_EQ(a["runs"][i]["kv"]["usage_per_step"], b["runs"][i]["kv"]["usage_per_step"]);
    ASSERT_EQ(a["runs"][i]["timeline"].size(), b["runs"][i]["timeline"].size());
    for (size_t j = 0; j < a["runs"][i]["timeline"].size(); ++j) {
      for (const char* key :
           {"running", "waiting", "live", "reserved", "overestimate", "rounding", "free"}) {
        ASSERT_EQ(a["runs"][i]["timeline"][j][key], b["runs"][i]["timeline"][j][key]);
      }
    }
  }
  EXPECT_GT(a["runs"][6]["preemptions"].get<int>() + a["runs"][7]["preemptions"].get<int>(), 0);
}

TEST_F(CliTest, RealAzureTraceCompletes44Of50) {
  if (!fs::exists(kAzure)) {
    GTEST_SKIP() << "the Azure trace is not beside this checkout";
  }
  const Outcome outcome =
      Kvbench("run --trace " + kAzure + " --limit 50" + kAllDesigns + "--model " + kTiny +
              " --kv-memory 16MiB --max-model-len 2048 --max-num-seqs 8 --dense off --threads 1"
              " --out r.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  ExpectValid("r.json");
  const nlohmann::json results = Json("r.json");
  ASSERT_GE(results["runs"].size(), 2U);
  for (const nlohmann::json& run : results["runs"]) {
    EXPECT_EQ(run["completed"], 44);
    EXPECT_EQ(run["rejected"], 6);
    EXPECT_GE(run["verification"]["checked"].get<int>(), 64);
    EXPECT_GE(run["verification"]["checked_256_keys"].get<int>(), 16);
    EXPECT_TRUE(run["verification"]["passed"].get<bool>());
  }
}

TEST_F(CliTest, BrokenTracesAreASentence) {
  const std::string run = " --out r.json";
  const auto refused = [&](const std::string& name, const std::string& text,
                           const std::vector<std::string>& parts) {
    Write(name, text);
    ExpectRefused("run --trace " + name + run, parts);
  };
  const std::string azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  refused("empty.csv", "", {"empty.csv"});
  refused("header.csv", azure, {"header.csv"});
  refused("missing.csv", "TIMESTAMP,ContextTokens\n2023-11-16 18:15:46.6805900,3\n",
          {"missing.csv"});
  refused("negative.csv", azure + "2023-11-16 18:15:46.6805900,-3,4\n",
          {"negative.csv", "2", "-3"});
  refused("huge.csv", azure + "2023-11-16 18:15:46.6805900,3,99999999999999999999\n",
          {"huge.csv", "2"});
  refused("back.csv", azure + "2023-11-16 18:15:46.6805900,3,4\n2023-11-16 18:15:45.0,3,4\n",
          {"back.csv", "3"});
  refused("nan.jsonl", "{\"timestamp\": NaN, \"input_length\": 3, \"output_length\": 4}\n",
          {"nan.jsonl", "1"});
  refused("cut.jsonl",
          "{\"timestamp\": 0, \"input_length\": 3, \"output_length\": 4}\n{\"timestamp\": 1, \"inp",
          {"cut.jsonl", "2"});
  refused("garbage.csv",
          std::string("\x7f"
                      "ELF\0\1\2\xff\xfe\n\n\0",
                      12),
          {"garbage.csv"});
  refused("pairs.csv", "input_tokens,output_tokens\n3,4\n", {"pairs.csv", "--arrivals"});
  ExpectRefused("run --trace no-such-file.csv" + run, {"no-such-file.csv"});
  ExpectRefused("run --trace ." + run, {"."});
}

TEST_F(CliTest, OtherBadInputIsASentence) {
  ExpectRefused("run --out r.json", {"--trace", "--lengths"});
  ExpectRefused("run nosuchsuite --out r.json", {"nosuchsuite", "quick"});
  ExpectRefused("run quick --model twin-mhx --out r.json", {"twin-mhx", "twin-mha"});
  ExpectRefused("run quick --design pagd --out r.json", {"--design", "pagd", "paged"});
  ExpectRefused("run quick --model deepseek-v3 --kv-memory 1GiB --out r.json",
                {"deepseek-v3", "MLA"});
  ExpectRefused("run quick --kv-cache-dtype fp8 --out r.json", {"--kv-cache-dtype"});
  ExpectRefused(
      "run --model " + kTiny + " --lengths fixed:prompt=100:output=9 --kv-memory 4KiB --out r.json",
      {"never", "--kv-memory"});
  ExpectRefused("run --model " + kTiny + kSmall + "--out no/such/folder/r.json",
                {"no/such/folder/r.json"});
  ExpectRefused("run --model " + kTiny + kSmall + "--out .", {"."});
  Write(
      "heads.json",
      R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 128, "num_attention_heads": 6,
        "num_key_value_heads": 4, "head_dim": 64, "intermediate_size": 192, "vocab_size": 256,
        "max_position_embeddings": 512})");
  ExpectRefused("run quick --model ./heads.json --out r.json", {"heads.json", "6", "4"});
}

TEST_F(CliTest, AFullDiskIsASentence) {
  if (!fs::exists("/dev/full")) {
    GTEST_SKIP() << "no /dev/full";
  }
  const Outcome outcome = Kvbench("run --model " + kTiny + kSmall + "--out /dev/full");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("kvbench: cannot write /dev/full: No space left on device"));
}

TEST_F(CliTest, WhatTheMachineCannotDoExitsWithThree) {
  const Outcome info = Kvbench("info --no-measure --format json");
  const nlohmann::json gpus = nlohmann::json::parse(info.out).at("gpus");
  if (gpus.is_null() || gpus.empty()) {
    const Outcome cuda = Kvbench("run quick --executor cuda --out r.json");
    EXPECT_EQ(cuda.code, 3);
    EXPECT_THAT(cuda.err, StartsWith("kvbench: --executor cuda: this "));
    EXPECT_THAT(cuda.err, testing::AnyOf(HasSubstr("was built without CUDA; install"),
                                         HasSubstr("no GPU that CUDA can use")));
    EXPECT_THAT(cuda.err, HasSubstr("--executor cpu"));
    EXPECT_FALSE(fs::exists("r.json"));
  }
  const Outcome outcome =
      Kvbench("run --model llama-2-70b --lengths sharegpt --requests 1 --kv-memory 1GiB");
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("GiB"));
}

TEST_F(CliTest, InfoWithoutMeasuring) {
  const Outcome text = Kvbench("info --no-measure");
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, StartsWith("kvbench "));
  EXPECT_THAT(text.out, HasSubstr("\nload average "));
  EXPECT_THAT(text.out, HasSubstr("\nGPU "));
  EXPECT_THAT(text.out, testing::Not(HasSubstr("GFLOP/s")));
  const Outcome outcome = Kvbench("info --no-measure --format json --model twin-mqa");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json info = nlohmann::json::parse(outcome.out);
  EXPECT_GE(info["machine"]["cores"].get<int>(), 1);
  EXPECT_GT(info["machine"]["memory_bytes"].get<int64_t>(), 0);
  EXPECT_TRUE(info["machine"]["cpu_isa"].is_string());
  EXPECT_TRUE(info["measured"].is_null());
  EXPECT_TRUE(info["warnings"].is_array());
  ExpectRefused("info --model twin-mhx", {"twin-mhx", "twin-mha"});
  ExpectRefused("info --threads 1000000", {"--threads"});
  ExpectRefused("info --kv-cache-dtype fp8", {"--kv-cache-dtype", "float16"});
  ExpectRefused("info --model deepseek-v3", {"deepseek-v3", "MLA"});
  EXPECT_EQ(Kvbench("info --format xml").code, 2);
}

TEST_F(CliTest, InterruptedKeepsWhatIsFinished) {
  // SIGINT when the first line about a finished run is there; the rest would take far longer.
  const Outcome outcome =
      Shell("( '" KVBENCH_PROGRAM "' run --model " + kTiny + kSmall +
            "--repetitions 10000 --out r.json 2>log & pid=$!; "
            "for i in $(seq 600); do grep -q requests log 2>/dev/null && break; sleep 0.05; done; "
            "kill -INT $pid; wait $pid; echo code $? )");
  EXPECT_THAT(outcome.out, HasSubstr("code 130"));
  EXPECT_THAT(ReadFile(dir_ / "log"), HasSubstr("marked incomplete"));
  ExpectValid("r.json");
  const nlohmann::json results = Json("r.json");
  EXPECT_FALSE(results["run_info"]["complete"].get<bool>());
  EXPECT_GE(results["runs"].size(), 1U);
}

}  // namespace
}  // namespace kvbench
