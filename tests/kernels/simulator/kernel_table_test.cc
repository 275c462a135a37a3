#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernels/cuda/all_kernels.h"
#include "kernels/cuda/kernel_names.h"

namespace kvbench {
namespace {

TEST(KernelTable, NamesAreUniqueAndFound) {
  const KernelTable table = SimulatorKernels();
  std::set<std::string> names;
  for (const Kernel& kernel : table.all()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
    const Kernel* const found = table.Find(kernel.name);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->entry, kernel.entry);
  }
  EXPECT_GE(names.size(), 80u);
  EXPECT_EQ(table.Find("no such kernel"), nullptr);
}

// What ptxas cannot see is asked for at launch.
TEST(KernelTable, SharedMemoryFitsWithoutAskingForMore) {
  constexpr int32_t kMost = 48 * 1024;
  // 16 KiB of queries beside two stages of 16 KiB and the scores; a GPU of today has room for four.
  const std::set<std::string> larger = {
      AttentionMmaName("fp16", 256, false, 32), AttentionMmaName("fp16", 256, true, 32),
      AttentionMmaName("bf16", 256, false, 32), AttentionMmaName("bf16", 256, true, 32)};
  const KernelTable table = SimulatorKernels();
  for (const Kernel& kernel : table.all()) {
    const bool may_be_larger = larger.contains(kernel.name);
    EXPECT_LE(kernel.shared_bytes, may_be_larger ? 56 * 1024 : kMost) << kernel.name;
    if (may_be_larger) {
      EXPECT_GT(kernel.shared_bytes, kMost) << kernel.name << " needs no exception";
    }
  }
}

}  // namespace
}  // namespace kvbench
