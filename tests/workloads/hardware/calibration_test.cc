#include "workloads/hardware/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workloads/testing.h"

namespace kvbench {
namespace {

using testing::HasSubstr;

TEST(CalibrationTest, EveryMachineHasOneAndNoRateIsAboveItsPeak) {
  for (const Hardware& hardware : BuiltInHardware()) {
    for (const std::string& name : CalibrationNames()) {
      const Calibration c = LoadCalibration(name, hardware);
      EXPECT_EQ(c.name, name);
      EXPECT_FALSE(c.source.empty());
    }
    const Calibration own = LoadCalibration("", hardware);
    EXPECT_GT(own.weight_read_bytes_per_s, 0.7 * hardware.memory_bandwidth_bytes_per_s);
    for (const double rate :
         {own.weight_read_bytes_per_s, own.kv_read_bytes_per_s, own.kv_write_bytes_per_s}) {
      EXPECT_LT(rate, hardware.memory_bandwidth_bytes_per_s) << hardware.name;
    }
    EXPECT_LT(own.dense_flops_per_s, hardware.dense_flops_per_s);
    EXPECT_LE(own.link_bytes_per_s, hardware.link_bytes_per_s);
  }
}

TEST(CalibrationTest, ThePapersFourNumbers) {
  const Calibration c = LoadCalibration("", LoadHardware("a100-sxm4-40gb"));
  EXPECT_EQ(c.weight_read_bytes_per_s, 1.3e12);
  EXPECT_EQ(c.kv_read_bytes_per_s, 1.17e12);
  EXPECT_EQ(c.dense_flops_per_s, 1.56e14);
  EXPECT_EQ(c.attention_flops_per_s, 0);
  EXPECT_EQ(c.step_overhead_s, 0.004);
  EXPECT_EQ(c.sequence_overhead_s, 0.0003);
  EXPECT_EQ(c.TensorParallelOverhead(1), 0);
  EXPECT_EQ(c.TensorParallelOverhead(2), 0.006) << "the next larger degree's";
  EXPECT_EQ(c.TensorParallelOverhead(4), 0.006);
  EXPECT_EQ(c.TensorParallelOverhead(8), 0.010);
  EXPECT_EQ(c.TensorParallelOverhead(16), 0.010);
  EXPECT_EQ(LoadCalibration("", LoadHardware("a100-sxm4-80gb")).kv_read_bytes_per_s, 1.6e12);
}

TEST(CalibrationTest, SharesAreOfThePeak) {
  const Hardware h100 = LoadHardware("h100-sxm");
  const Calibration c = LoadCalibration("roofline", h100);
  EXPECT_EQ(c.kv_read_bytes_per_s, 0.8 * h100.memory_bandwidth_bytes_per_s);
  EXPECT_EQ(c.dense_flops_per_s, 0.6 * h100.dense_flops_per_s);
}

TEST(CalibrationTest, AnUnknownOneListsAll) {
  EXPECT_THAT(SentenceOf([] { LoadCalibration("roofs", LoadHardware("l4")); }),
              HasSubstr("choose one of vllm-paper-a100-40gb, vllm-paper-a100-80gb, roofline"));
}

}  // namespace
}  // namespace kvbench
