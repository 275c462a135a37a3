#include "kernels/cuda/device_read_roof.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/cuda/simulated_device.h"

namespace kvbench {
namespace {

TEST(DeviceReadRoofTest, ReadsEveryByteOnceAndNothingElse) {
  // Fewer vectors than threads, a part of a round, some whole rounds and a tail.
  for (const int64_t vectors : {int64_t{1}, int64_t{700}, int64_t{9001}}) {
    AccessLog log;
    SimulatedDevice device({.log = &log}, int64_t{1} << 24, 2);
    DeviceReadRoof roof(device, 16 * vectors);
    std::mt19937 random(3);
    std::vector<Vector16> data(static_cast<size_t>(vectors));
    uint32_t expected = 0;
    for (Vector16& vector : data) {
      for (uint32_t& word : vector.words) {
        word = static_cast<uint32_t>(random());
        expected ^= word;
      }
    }
    roof.data().Upload(data);
    EXPECT_GT(roof.Measure(), 0);
    EXPECT_EQ(roof.Checksum(), expected);
    EXPECT_EQ(log.BytesIn(AccessLog::Kind::kGlobalLoad, roof.data().data(),
                          static_cast<size_t>(16 * vectors)),
              16 * vectors);
  }
}

TEST(DeviceReadRoofTest, TakesWhatIsFree) {
  SimulatedDevice small({}, int64_t{1} << 20, 2);
  EXPECT_EQ(DeviceReadRoof::GoodBytes(small), int64_t{1} << 19);
  DeviceReadRoof roof(small, 4096);
  EXPECT_GT(roof.Median(3), 0);
}

}  // namespace
}  // namespace kvbench
