#include "bench/gpu/nvidia_smi.h"

#include <gtest/gtest.h>

namespace kvbench::gpu {
namespace {

TEST(NvidiaSmi, ClocksAreReadFromItsLine) {
  const std::optional<GpuClocks> clocks = ParseClocks("1980, 3201\n");
  ASSERT_TRUE(clocks.has_value());
  EXPECT_EQ(clocks->sm_mhz, 1980);
  EXPECT_EQ(clocks->memory_mhz, 3201);
}

TEST(NvidiaSmi, WhatIsNoClockIsNothing) {
  for (const char* const line : {"", "[N/A], [N/A]\n", "1980\n", "1980; 3201\n", "No devices"}) {
    EXPECT_FALSE(ParseClocks(line).has_value()) << line;
  }
}

}  // namespace
}  // namespace kvbench::gpu
