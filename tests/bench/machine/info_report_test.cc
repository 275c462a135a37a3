#include "bench/machine/info_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace kvbench {
namespace {

using testing::HasSubstr;
using testing::Not;

InfoReport Example() {
  InfoReport report;
  report.program.version = "9.8.7";
  report.program.commit = "abc";
  report.program.build_type = "Release";
  report.program.compiler = "C";
  report.environment.cpu_model = std::string(200, 'x');
  report.environment.cores = 2;
  report.state.load_average_1min = 0.25;
  report.state.load_average_5min = 0.5;
  report.state.caches = {{.level = 1, .type = "Data", .bytes = 49152, .instances = 2, .cores = 2},
                         {.level = 3, .type = "Unified", .bytes = 33554432, .instances = 1}};
  report.doubts = {"One reason " + std::string(120, 'y') + " to doubt.", "Another."};
  return report;
}

MeasuredInfo Measured() {
  MeasuredInfo measured;
  measured.model.name = "some-model";
  measured.model.head_dim = 64;
  measured.kv_cache_dtype = Dtype::kFp16;
  measured.read = {{1, 8e9}, {2, 10e9}};
  CpuRoofs& roofs = measured.roofs;
  roofs.threads = 2;
  roofs.read_bytes_per_s = 10e9;
  roofs.read_spread = 0.034;
  roofs.dense = {{1, 0.5e-9}, {64, 4e-9}};
  roofs.elementwise = {{1, 1e-9}, {64, 128e-9}};
  roofs.decode = {{0, 32e-9, 7e-9}, {16, 64e-9, 0}};
  roofs.prefill = {{16, 25.6e-9}, {64, 12.8e-9}};
  roofs.kv_write_bytes_per_s = 3e9;
  roofs.dispatch_s = 1.5e-6;
  return measured;
}

void ExpectFits(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(InfoTextTest, ShowsTheMachineWithoutMeasurements) {
  const std::string text = InfoText(Example());
  ExpectFits(text);
  EXPECT_THAT(text, HasSubstr("9.8.7 (abc, Release build, C)"));
  EXPECT_THAT(text, HasSubstr("L1d 48 KiB x 2, L3 32 MiB\n"));
  EXPECT_THAT(text, HasSubstr("governor       unknown\n"));
  EXPECT_THAT(text, HasSubstr("0.25 over 1 minute, 0.50 over 5 minutes\n"));
  EXPECT_THAT(text, HasSubstr("Warning: One reason"));
  EXPECT_THAT(text, HasSubstr("Warning: Another.\n"));
  EXPECT_THAT(text, Not(HasSubstr("GB/s")));
}

TEST(InfoTextTest, SaysWhichGpusThereAreOrWhyNone) {
  InfoReport report = Example();
  EXPECT_THAT(InfoText(report), HasSubstr("GPU            not looked for: this kvbench was built "
                                          "without CUDA\n"));
  report.gpus.built_with_cuda = true;
  EXPECT_THAT(InfoText(report), HasSubstr("GPU            none\n"));
  report.gpus.problem = "no NVIDIA driver is installed";
  EXPECT_THAT(InfoText(report), HasSubstr("GPU            none: no NVIDIA driver is installed\n"));
  report.gpus.problem.clear();
  report.gpus.gpus = {{.name = "Some GPU",
                       .multiprocessors = 132,
                       .memory_bytes = int64_t{141} << 30,
                       .l2_bytes = 50 << 20,
                       .compute_capability = 90,
                       .driver = "13.0"}};
  const std::string text = InfoText(report);
  ExpectFits(text);
  EXPECT_THAT(text,
              HasSubstr("GPU            Some GPU, compute capability 9.0, 141 GiB, 50 MiB of "));
  const nlohmann::json gpu = nlohmann::json::parse(InfoJson(report))["gpus"][0];
  EXPECT_EQ(gpu["name"], "Some GPU");
  EXPECT_EQ(gpu["compute_capability"], "9.0");
  EXPECT_EQ(gpu["memory_bytes"], int64_t{141} << 30);
  EXPECT_EQ(gpu["multiprocessors"], 132);
}

TEST(InfoTextTest, ShowsMeasurementsAndTheirShares) {
  InfoReport report = Example();
  report.measured = Measured();
  const std::string text = InfoText(report);
  ExpectFits(text);
  EXPECT_THAT(text, HasSubstr("1 thread"));
  EXPECT_THAT(text, HasSubstr("10.0 GB/s, spread 3.4 %"));
  // 2 x 64 operations a weight in 4 ns; 4 bytes in 4 ns of 10 GB/s.
  EXPECT_THAT(text, HasSubstr("      64       32.0             1.0        10 %\n"));
  // 256 bytes a key and KV head in 64 ns.
  EXPECT_THAT(text, HasSubstr("  paged, block 16            4.0        40 %"));
  // 256 operations in 25.6 ns.
  EXPECT_THAT(text, HasSubstr("  16 tokens                 10.0\n"));
  EXPECT_THAT(text, HasSubstr("1.00 ns per row and hidden element with 1 row, 2.00 with 64\n"));
}

TEST(InfoTextTest, SaysWhenItWasMeasured) {
  InfoReport report = Example();
  report.now_s = 1'800'000'000;
  report.measured = Measured();
  report.measured->measured_at_s = report.now_s - (3 * 60 + 59) * 60;
  EXPECT_THAT(InfoText(report), Not(HasSubstr("ago")));
  report.measured->from_cache = true;
  EXPECT_THAT(
      InfoText(report),
      HasSubstr("measured       2027-01-15T04:01:00Z, 3 h ago (--measure measures again)\n"));
  report.measured->measured_at_s = report.now_s - 119;
  EXPECT_THAT(InfoText(report), HasSubstr(", 1 min ago"));
}

TEST(InfoTextTest, SaysWhatPoolsGet) {
  InfoReport report = Example();
  EXPECT_THAT(InfoText(report), HasSubstr("huge pages     none: KV pools"));
  report.state.transparent_huge_pages = "never";
  EXPECT_THAT(InfoText(report), HasSubstr("huge pages     never: KV pools"));
  report.state.transparent_huge_pages = "madvise";
  report.state.huge_page_share = 0.75;
  const std::string text = InfoText(report);
  ExpectFits(text);
  EXPECT_THAT(text, HasSubstr("huge pages     madvise: KV pools and weights"));
  EXPECT_THAT(text, HasSubstr("75 %"));
}

TEST(InfoJsonTest, HasTheSameFigures) {
  InfoReport report = Example();
  nlohmann::json json = nlohmann::json::parse(InfoJson(report));
  EXPECT_TRUE(json["measured"].is_null());
  EXPECT_TRUE(json["machine"]["os"].is_null());
  EXPECT_EQ(json["machine"]["caches"][1]["bytes"], 33554432);
  EXPECT_EQ(json["warnings"].size(), 2U);

  report.measured = Measured();
  report.measured->model.name = "\xff";
  report.measured->roofs.kv_write_bytes_per_s = std::numeric_limits<double>::infinity();
  json = nlohmann::json::parse(InfoJson(report));
  const nlohmann::json& measured = json["measured"];
  EXPECT_EQ(measured["read_roof_by_threads"][0]["bytes_per_s"], 8e9);
  EXPECT_DOUBLE_EQ(measured["dense"][1]["flops_per_s"].get<double>(), 32e9);
  EXPECT_DOUBLE_EQ(measured["dense"][1]["read_roof_share"].get<double>(), 0.1);
  EXPECT_TRUE(measured["decode_attention"][0]["block_size"].is_null());
  EXPECT_DOUBLE_EQ(measured["decode_attention"][1]["kv_bytes_per_s"].get<double>(), 4e9);
  EXPECT_DOUBLE_EQ(measured["prompt_attention"][1]["flops_per_s"].get<double>(), 20e9);
  EXPECT_DOUBLE_EQ(measured["elementwise"][1]["ns_per_row_and_hidden"].get<double>(), 2);
  EXPECT_TRUE(measured["kv_write_bytes_per_s"].is_null());
}

}  // namespace
}  // namespace kvbench
