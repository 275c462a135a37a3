#include "bench/machine/machine_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace kvbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MachineStateTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(root_); }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  fs::path root_ =
      fs::path(testing::TempDir()) / ("machine_state_test." + std::to_string(getpid()));
};

TEST_F(MachineStateTest, ReadsWhatLinuxSays) {
  Write("proc/loadavg", "1.25 0.50 0.10 2/345 6789\n");
  Write("proc/meminfo", "MemTotal:  100 kB\nHugePages_Total:   0\nMemAvailable:   64 kB\n");
  Write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  Write("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
  Write("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
  Write("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
  const MachineState state = ReadMachineState(root_);
  EXPECT_EQ(state.load_average_1min, 1.25);
  EXPECT_EQ(state.load_average_5min, 0.5);
  EXPECT_EQ(state.available_memory_bytes, 65536);
  EXPECT_EQ(state.transparent_huge_pages, "madvise");
  EXPECT_EQ(state.frequency_governor, "powersave");
  ASSERT_EQ(state.caches.size(), 1U);
  EXPECT_EQ(state.caches[0].bytes, 32768);
}

TEST_F(MachineStateTest, WhatIsNotSaidIsEmpty) {
  Write("proc/loadavg", "fast\n");
  Write("sys/kernel/mm/transparent_hugepage/enabled", "]always[\n");
  const MachineState state = ReadMachineState(root_);
  EXPECT_FALSE(state.load_average_1min);
  EXPECT_FALSE(state.available_memory_bytes);
  EXPECT_FALSE(state.transparent_huge_pages);
  EXPECT_FALSE(state.frequency_governor);
  EXPECT_TRUE(state.caches.empty());
}

TEST(MeasurementDoubtsTest, OneSentenceForEachReason) {
  MachineState state;
  state.load_average_1min = 2.0;
  state.transparent_huge_pages = "always";
  CpuRoofs roofs;
  roofs.threads = 4;
  roofs.read_spread = 0.1;
  roofs.dispatch_s = 1e-6;
  EXPECT_THAT(MeasurementDoubts(state, 4, &roofs), IsEmpty());
  EXPECT_THAT(MeasurementDoubts(state, 4, nullptr), IsEmpty());
  EXPECT_THAT(MeasurementDoubts(state, 3, nullptr), ElementsAre(HasSubstr("2.00 on 3 cores")));
  roofs.read_spread = 0.25;
  EXPECT_THAT(MeasurementDoubts(state, 4, &roofs), ElementsAre(HasSubstr("25 %")));
  roofs.read_spread = 0;
  roofs.dispatch_s = 51e-6;
  EXPECT_THAT(MeasurementDoubts(state, 4, &roofs), ElementsAre(HasSubstr("51 us")));
  state.huge_page_share = 1.0;
  EXPECT_THAT(MeasurementDoubts(state, 4, nullptr), IsEmpty());
  state.huge_page_share = 0.25;
  EXPECT_THAT(MeasurementDoubts(state, 4, nullptr), ElementsAre(HasSubstr("25 %")));
  state.transparent_huge_pages = "never";
  EXPECT_THAT(MeasurementDoubts(state, 4, nullptr), ElementsAre(HasSubstr("huge pages")));
  state.transparent_huge_pages.reset();
  EXPECT_THAT(MeasurementDoubts(state, 3, &roofs),
              ElementsAre(HasSubstr("load average"), HasSubstr("51 us"), HasSubstr("huge pages")));
}

TEST(PoolHugePageShareTest, IsAShareHere) {
  const std::optional<double> share = PoolHugePageShare();
  if (share) {
    EXPECT_GE(*share, 0);
    EXPECT_LE(*share, 1);
  }
}

TEST(PoolHugePageShareTest, CountsTheMappingsOfThePoolAndNoOthers) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / ("smaps." + std::to_string(getpid()));
  // The pool lies somewhere in the upper half of this: two mappings of 4 MiB on huge pages.
  std::ofstream(path) << "00400000-00500000 r--p 00000000 fe:00 1  /bin/x\n"
                         "AnonHugePages:      8192 kB\n"
                         "00500000-7fffffffffff rw-p 00000000 00:00 0 \n"
                         "Size:              32768 kB\n"
                         "VmFlags: rd wr mr\n"
                         "AnonHugePages:      8192 kB\n";
  const std::optional<double> share = PoolHugePageShare(path);
  ASSERT_TRUE(share);
  EXPECT_DOUBLE_EQ(*share, 0.25);
  std::filesystem::remove(path);
  EXPECT_FALSE(PoolHugePageShare(path));
}

}  // namespace
}  // namespace kvbench
