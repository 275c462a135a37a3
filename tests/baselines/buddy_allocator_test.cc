#include "baselines/buddy_allocator.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/baselines/naive_buddy.h"

namespace kvbench {
namespace {

TEST(BuddyAllocatorTest, CutsThePapersAreaGreedily) {
  // 983 blocks = 7 x 128 + 64 + 16 + 4 + 2 + 1 (vLLM paper's artifact).
  BuddyAllocator buddies(983, 128);
  EXPECT_EQ(buddies.free_units(), 983);
  EXPECT_EQ(buddies.largest_chunk_units(), 128);
  for (const int64_t size : {128, 128, 128, 128, 128, 128, 128, 64, 16, 4, 2, 1}) {
    EXPECT_NE(buddies.Allocate(size), BuddyAllocator::kNone) << size;
  }
  EXPECT_EQ(buddies.free_units(), 0);
  EXPECT_EQ(buddies.Allocate(1), BuddyAllocator::kNone);
}

TEST(BuddyAllocatorTest, SmallAreaHasASmallerLargestChunk) {
  EXPECT_EQ(BuddyAllocator(100, 128).largest_chunk_units(), 64);
  EXPECT_EQ(BuddyAllocator(0, 128).largest_chunk_units(), 0);
  EXPECT_EQ(BuddyAllocator(0, 128).Allocate(1), BuddyAllocator::kNone);
}

TEST(BuddyAllocatorTest, GivesTheNaiveModelsOffsetsUnderRandomOperations) {
  for (const uint32_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    std::mt19937 random(seed);
    const int64_t units = 1 + static_cast<int64_t>(random() % 1500);
    const int64_t max_chunk = int64_t{1} << (random() % 9);
    BuddyAllocator buddies(units, max_chunk);
    NaiveBuddy naive(units, max_chunk);
    std::vector<std::pair<int64_t, int64_t>> held;
    int64_t held_units = 0;
    for (int step = 0; step < 20000; ++step) {
      if (random() % 2 == 0) {
        int64_t size = int64_t{1} << (random() % 9);
        size = size > max_chunk ? max_chunk : size;
        const int64_t offset = buddies.Allocate(size);
        ASSERT_EQ(offset, naive.Allocate(size)) << "seed " << seed << ", step " << step;
        if (offset != BuddyAllocator::kNone) {
          ASSERT_EQ(offset % size, 0);
          ASSERT_LE(offset + size, units);
          held.emplace_back(offset, size);
          held_units += size;
        }
      } else if (!held.empty()) {
        const size_t i = random() % held.size();
        buddies.Free(held[i].first, held[i].second);
        naive.Free(held[i].first, held[i].second);
        held_units -= held[i].second;
        held[i] = held.back();
        held.pop_back();
      }
      ASSERT_EQ(buddies.free_units(), units - held_units);
    }
    for (const auto& [offset, size] : held) {
      buddies.Free(offset, size);
    }
    // Everything merged again: the area is what it was at the start.
    BuddyAllocator fresh(units, max_chunk);
    for (int64_t size = max_chunk; size >= 1; size /= 2) {
      while (fresh.Allocate(size) != BuddyAllocator::kNone) {
        ASSERT_NE(buddies.Allocate(size), BuddyAllocator::kNone)
            << "seed " << seed << ", size " << size;
      }
    }
    EXPECT_EQ(buddies.free_units(), 0);
  }
}

}  // namespace
}  // namespace kvbench
