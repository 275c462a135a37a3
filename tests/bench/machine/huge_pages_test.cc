#include "bench/machine/huge_pages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace kvbench {
namespace {

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
