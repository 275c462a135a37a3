// `kvbench plan` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/bench/commands/program.h"

namespace kvbench {
namespace plan_cli {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Outcome Kvbench(const std::string& arguments) { return RunKvbench(testing::TempDir(), arguments); }

/// What the program prints; nothing wider than 100 columns.
std::string Plan(const std::string& arguments) {
  const Outcome outcome = Kvbench("plan " + arguments);
  EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
  EXPECT_EQ(outcome.err, "");
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
  }
  return outcome.out;
}

nlohmann::json PlanJson(const std::string& arguments) {
  const Outcome outcome = Kvbench("plan --format json " + arguments);
  EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

void ExpectRefused(const std::string& arguments, const std::vector<std::string>& parts) {
  const Outcome outcome = Kvbench("plan " + arguments);
  EXPECT_EQ(outcome.code, 2) << arguments << "\n" << outcome.out;
  EXPECT_EQ(outcome.out, "") << arguments;
  EXPECT_THAT(outcome.err, StartsWith("kvbench: ")) << arguments;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  for (const std::string& part : parts) {
    EXPECT_THAT(outcome.err, HasSubstr(part)) << arguments;
  }
}

const char* const kLlama = "--model llama-2-7b --hardware a100-sxm4-80gb ";

TEST(PlanCliTest, ABatchThatFitsAndOneThatDoesNot) {
  const std::string text = Plan(std::string(kLlama) + "--context 4096 --batch 1,32");
  EXPECT_THAT(text, ContainsRegex("4,096 +1 +2\\.00 GiB  yes\n"));
  EXPECT_THAT(text, ContainsRegex("4,096 +32 +64\\.00 GiB  no, 2\\.66 GiB too much\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("would fit with a batch of at most 30, a context of at most"),
                          HasSubstr("--kv-cache-dtype fp8"), HasSubstr("2 devices")));
  EXPECT_THAT(text, ContainsRegex("memory +79\\.15 GiB\n"));
  EXPECT_THAT(text, ContainsRegex("weights, float16 +- +12\\.55 GiB\n"));
  EXPECT_THAT(text, ContainsRegex("KV of a token +512\\.00 KiB"));
  EXPECT_THAT(text, ContainsRegex("GQA +8 +11\\.05 GiB +128\\.00 KiB +512\\.00 MiB +124\n"));
  EXPECT_THAT(text, HasSubstr("2,048 + 2,048"));
  EXPECT_THAT(text, HasSubstr("paged admits only while 1 % of its blocks stay free"));
  EXPECT_THAT(text, Not(HasSubstr("USD")));
}

TEST(PlanCliTest, TheBlocksOfThePaper) {
  EXPECT_THAT(Plan("--model opt-13b --hardware a100-sxm4-40gb --gpu-memory 42298834944B"),
              HasSubstr("of 16 slots = 15,728 slots"));
  const nlohmann::json plan = PlanJson(
      "--model opt-175b --hardware a100-sxm4-80gb --gpu-memory 85051637760 "
      "--tensor-parallel-size 8");
  EXPECT_EQ(plan["memory_plan"]["blocks"], 3760);
}

TEST(PlanCliTest, JsonHasWhatTheTextShows) {
  const nlohmann::json plan = PlanJson(std::string(kLlama) +
                                       "--context 2048,4096 --batch 1,32 --gpu-hour-price 2 "
                                       "--output-tokens 100");
  EXPECT_EQ(plan["format"], "kvbench plan 1");
  const nlohmann::json& model = plan["model"];
  EXPECT_EQ(model["name"], "llama-2-7b");
  EXPECT_EQ(model["attention"], "MHA");
  EXPECT_EQ(model["kv_cache_dtype"], "float16");
  EXPECT_EQ(model["kv_bytes_per_token"], 524'288);
  EXPECT_EQ(model["weight_bytes"], 2 * 6'738'415'616);
  EXPECT_EQ(model.size(), 11u);
  int64_t sum = 0;
  for (const nlohmann::json& line : plan["memory_plan"]["lines"]) {
    sum += line["bytes"].get<int64_t>();
  }
  EXPECT_EQ(plan["memory_plan"]["kv_bytes"], sum);
  ASSERT_EQ(plan["contexts"].size(), 2u);
  const nlohmann::json& longer = plan["contexts"][1];
  EXPECT_EQ(longer["prompt_tokens"], 3996);
  EXPECT_EQ(longer["output_tokens"], 100);
  EXPECT_EQ(longer["designs"].size(), 4u);
  EXPECT_TRUE(longer["batches"][0]["fits"].get<bool>());
  EXPECT_GT(longer["batches"][0]["modelled"]["usd_per_million_output_tokens"].get<double>(), 0);
  EXPECT_TRUE(longer["batches"][0]["what_fits"].is_null());
  EXPECT_FALSE(longer["batches"][1]["fits"].get<bool>());
  EXPECT_TRUE(longer["batches"][1]["modelled"].is_null());
  EXPECT_EQ(longer["batches"][1]["what_fits"]["batch"], 30);
  EXPECT_EQ(longer["batches"][1]["what_fits"]["kv_cache_dtype"], "fp8");
  EXPECT_EQ(longer["batches"][1]["what_fits"]["tensor_parallel_size"], 2);
  EXPECT_EQ(plan["variants"].size(), 3u);
  EXPECT_EQ(plan["gpu_hour_price_usd"], 2.0);
}

TEST(PlanCliTest, APriceAddsACostThatSaysItIsModelled) {
  const std::string text = Plan(std::string(kLlama) + "--batch 1,64 --gpu-hour-price 2.5");
  EXPECT_THAT(text, HasSubstr("Cost of a million output tokens, modelled, at 2.5 USD"));
  EXPECT_THAT(text, HasSubstr("Modelled, not measured"));
  EXPECT_THAT(text, HasSubstr("80 %"));
  EXPECT_THAT(Plan(std::string(kLlama) + "--batch 64 --gpu-hour-price 2.5"),
              HasSubstr("none: no batch fits"));
}

TEST(PlanCliTest, DesignsDiffer) {
  const std::string text = Plan(std::string(kLlama) + "--context 1100 --batch 80");
  EXPECT_THAT(text, HasSubstr("yes, under 1 of 4 designs"));
  EXPECT_THAT(text, ContainsRegex("fit under paged, not under contiguous-max .at most 30."));
}

TEST(PlanCliTest, AModelThatDoesNotFitIsAnAnswer) {
  const std::string text = Plan("--model llama-2-70b --hardware a100-sxm4-80gb");
  EXPECT_THAT(text, HasSubstr("The model does not fit: 54."));
  EXPECT_THAT(text, ContainsRegex("left for the KV cache +=  -54\\.[0-9]+ GiB"));
  EXPECT_THAT(text, HasSubstr("1 request of 4,096 tokens would fit with 2 devices"));
}

TEST(PlanCliTest, KindsOfModels) {
  EXPECT_THAT(Plan("--model deepseek-v3 --hardware h200-sxm --tensor-parallel-size 16 "
                   "--context 8192,163840 --batch 1..64*8"),
              AllOf(HasSubstr("each of the 16 devices"), HasSubstr("MLA, as it is")));
  EXPECT_THAT(Plan("--model gemma-3-27b --hardware h200-sxm --max-model-len 32768 --batch 8"),
              HasSubstr("52 of 62 layers keep the last 1,024 tokens only"));
  EXPECT_THAT(Plan("--model starcoder-15b --hardware l40s --tensor-parallel-size 4"),
              HasSubstr("4 devices share 1 KV head: each head is on 4 of them."));
  EXPECT_THAT(Plan("--model " KVBENCH_SOURCE_DIR "/tests/data/tiny-gqa.json --hardware rtx-3090 "
                   "--block-size 1 --batch 100000 --context 2"),
              HasSubstr("tiny-gqa on rtx-3090"));
}

TEST(PlanCliTest, BadInputIsASentence) {
  ExpectRefused("--model llama2-7b --hardware l4", {"--model", "'llama2-7b'", "llama-2-7b"});
  ExpectRefused("--model llama-2-7b --hardware a100", {"--hardware", "'a100'", "JSON file"});
  ExpectRefused("--model ./none.json --hardware l4", {"--model", "./none.json"});
  const std::string llama = kLlama;
  ExpectRefused(llama + "--context 8192", {"--context", "8192", "4096", "--max-model-len"});
  ExpectRefused(llama + "--context 4k", {"--context", "4k"});
  ExpectRefused(llama + "--context 1", {"--context", "'1'", "at least 2"});
  ExpectRefused(llama + "--context 16,,32", {"--context"});
  ExpectRefused(llama + "--batch 0", {"--batch", "at least 1"});
  ExpectRefused(llama + "--batch 1..1000000*10", {"--batch", "1000000", "100000"});
  ExpectRefused(llama + "--batch 1..100+1", {"--batch", "100 values"});
  ExpectRefused(llama + "--tensor-parallel-size 3", {"--tensor-parallel-size 3", "32 query heads"});
  ExpectRefused(llama + "--dtype float8", {"--dtype", "float8", "bfloat16"});
  ExpectRefused(llama + "--kv-cache-dtype x", {"--kv-cache-dtype"});
  ExpectRefused(llama + "--gpu-memory-utilization 95", {"--gpu-memory-utilization", "0.95"});
  ExpectRefused(llama + "--gpu-memory lots", {"--gpu-memory", "lots", "12GiB"});
  ExpectRefused(llama + "--gpu-memory 0", {"--gpu-memory", "24GiB"});
  ExpectRefused(llama + "--max-model-len 99999999999", {"--max-model-len"});
  ExpectRefused(llama + "--block-size 0", {"--block-size"});
  ExpectRefused(llama + "--output-tokens 0", {"--output-tokens"});
  ExpectRefused(llama + "--gpu-hour-price -1", {"--gpu-hour-price", "2.5"});
  ExpectRefused(llama + "--format xml", {"--format", "'xml'", "json"});
  EXPECT_EQ(Kvbench("plan --model llama-2-7b").code, 2);
}

// Every example of --help runs.
TEST(PlanCliTest, HelpHasExamplesThatWork) {
  const Outcome help = Kvbench("plan --help");
  EXPECT_EQ(help.code, 0);
  std::istringstream lines(help.out);
  int examples = 0;
  std::string command;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
    if (command.empty() && !line.starts_with("  kvbench plan ")) {
      continue;
    }
    command += line;
    if (command.ends_with("\\")) {
      command.pop_back();
      continue;
    }
    EXPECT_EQ(Kvbench(command.substr(command.find("plan "))).code, 0) << command;
    command.clear();
    ++examples;
  }
  EXPECT_EQ(examples, 3);
}

}  // namespace plan_cli
}  // namespace kvbench
