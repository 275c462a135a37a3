#include "bench/gpu/targets.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "bench/gpu/report.h"

namespace kvbench::gpu {
namespace {

constexpr int64_t kRoofBytes = int64_t{1} << 30;

/// 2 GiB of KV.
DecodeResult Result(int32_t block_size, std::vector<double> seconds, int32_t batch = 256) {
  DecodeResult result;
  result.cell = {.block_size = block_size, .context = 512, .batch = batch};
  result.seconds = std::move(seconds);
  result.roof_seconds = {0.9e-3, 1e-3, 1.1e-3};
  result.plan_seconds = {1e-5};
  return result;
}

TEST(Targets, SharesAreOfMedians) {
  const DecodeResult result = Result(0, {2e-3, 9e-3, 2.5e-3});
  EXPECT_DOUBLE_EQ(AchievedBytesPerS(result), 0x1p31 / 2.5e-3);
  EXPECT_DOUBLE_EQ(RoofBytesPerS(result, kRoofBytes), 0x1p30 / 1e-3);
}

TEST(Targets, CountWhatHoldsAndNameTheWorst) {
  std::vector<DecodeResult> results = {
      Result(0, {2.2e-3}),       Result(16, {2.25e-3}),      // 0.91, 0.89; 1.023
      Result(0, {2.6e-3}, 255),  Result(16, {2.7e-3}, 255),  // 0.77, 0.74; 1.038
      Result(16, {2.2e-3}, 254),                             // no contiguous beside it
      Result(0, {1e-3}, 8),      Result(16, {2e-3}, 8),      // 64 MiB: the second target alone
      Result(0, {1e-3}, 4),      Result(16, {2e-3}, 4)};     // 32 MiB: none
  results.push_back(Result(16, {1.0}));
  results.back().cell.vllm_v1 = true;
  results.push_back(Result(16, {}, 253));
  results.back().skipped = "too large";
  const std::vector<Target> targets = JudgeTargets(results, kRoofBytes);
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].held, 3);
  EXPECT_EQ(targets[0].missed, 2);
  EXPECT_EQ(targets[0].worst_cell, "MHA paged-16 512 x 255");
  EXPECT_NEAR(targets[0].worst, 255.0 / 256 * 2 / 2.7, 1e-9);
  EXPECT_EQ(targets[1].held, 1);
  EXPECT_EQ(targets[1].missed, 2);
  EXPECT_EQ(targets[1].worst_cell, "MHA paged-16 512 x 8");
  EXPECT_DOUBLE_EQ(targets[1].worst, 2);
}

TEST(Targets, TablesFitAHundredColumns) {
  std::vector<DecodeResult> results = {Result(0, {2.2e-3}), Result(16, {123.4e-3, 125e-3})};
  results.back().cell.attention = "GQA-8";
  results.back().cell.context = 32768;
  results.push_back(Result(64, {}));
  results.back().skipped = "its pools take 32 GiB, the device has room for 16 GiB";
  const std::string table = DecodeTable(results, kRoofBytes);
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
  }
  EXPECT_NE(table.find("1 cells are skipped"), std::string::npos);
  EXPECT_NE(table.find("2 of 2 cells"), std::string::npos) << table;
}

TEST(Report, SkippedCellsSayWhyAndHaveNoNumbers) {
  DecodeResult result = Result(64, {});
  result.skipped = "no room";
  DeviceProperties device;
  device.name = "a GPU";
  const auto report = DecodeReport({.command = "kvbench_gpu decode",
                                    .what = "decode",
                                    .started_at = "2025-01-31T12:00:00Z",
                                    .budget_s = {},
                                    .clocks_before = GpuClocks{1980, 3201},
                                    .clocks_after = {}},
                                   device, {}, {result});
  EXPECT_EQ(report["cells"][0]["skipped"], "no room");
  EXPECT_FALSE(report["cells"][0].contains("seconds"));
  EXPECT_EQ(report["device"]["clocks_before"]["sm_mhz"], 1980);
  EXPECT_TRUE(report["device"]["clocks_after"].is_null());
  EXPECT_TRUE(report["targets"][0]["worst"].is_null());
}

}  // namespace
}  // namespace kvbench::gpu
