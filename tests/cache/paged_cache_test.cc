#include "cache/paged_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace kvbench {
namespace {

Admission Of(SequenceId id, int64_t tokens, int64_t final_length) {
  return {.sequence = id, .tokens = tokens, .estimate = 1, .final_length = final_length};
}

/// The slow, obvious paged cache: tokens of each sequence, everything else counted afresh.
struct NaivePaged {
  int64_t blocks;
  int64_t block_size;
  std::map<SequenceId, int64_t> tokens;

  int64_t BlocksFor(int64_t n) const { return n / block_size + (n % block_size != 0 ? 1 : 0); }
  int64_t FreeBlocks() const {
    int64_t free = blocks;
    for (const auto& [id, n] : tokens) {
      free -= BlocksFor(n);
    }
    return free;
  }
  Usage usage() const {
    Usage usage;
    for (const auto& [id, n] : tokens) {
      usage.live += n;
      usage.rounding += BlocksFor(n) * block_size - n;
    }
    usage.free = FreeBlocks() * block_size;
    return usage;
  }
};

TEST(PagedCacheTest, GrowingToTheFinalLengthLeavesTheTableWhereItIs) {
  PagedCache cache(16'000, 16);
  ASSERT_EQ(cache.Admit(Of(0, 5, 2000)).kind, AdmitResult::Kind::kFits);
  const int32_t* const table = cache.slots(0).blocks.data();
  for (int64_t tokens = 5; tokens < 2000; ++tokens) {
    ASSERT_TRUE(cache.Extend(0, 1));
    ASSERT_EQ(cache.slots(0).blocks.data(), table) << tokens;
  }
  EXPECT_EQ(cache.slots(0).blocks.size(), 125U);
}

TEST(PagedCacheTest, MatchesTheNaiveModelUnderRandomOperations) {
  for (const int32_t block_size : {1, 2, 4, 8, 16, 32, 64, 128, 256}) {
    std::mt19937 random(static_cast<uint32_t>(block_size));
    const int64_t slots = 3000 + static_cast<int64_t>(random() % 3000);
    PagedCache cache(slots, block_size);
    NaivePaged naive{slots / block_size, block_size, {}};
    const int64_t watermark = naive.blocks / 100;
    ASSERT_EQ(cache.capacity_slots(), naive.blocks * block_size);
    std::map<SequenceId, int64_t> final_length;
    int fits = 0;
    int waits = 0;
    int refused_growth = 0;
    for (int step = 0; step < 20000; ++step) {
      const auto id = static_cast<SequenceId>(random() % 64);
      if (!naive.tokens.contains(id)) {
        const int64_t tokens = 1 + static_cast<int64_t>(random() % 300);
        const int64_t final_tokens = tokens + static_cast<int64_t>(random() % 300);
        const AdmitResult result = cache.Admit(Of(id, tokens, final_tokens));
        if (naive.BlocksFor(final_tokens) + watermark > naive.blocks) {
          ASSERT_EQ(result.kind, AdmitResult::Kind::kNeverFits);
          ASSERT_FALSE(result.reason.empty());
        } else if (naive.FreeBlocks() - naive.BlocksFor(tokens) < watermark) {
          ASSERT_EQ(result.kind, AdmitResult::Kind::kWait);
          ++waits;
        } else {
          ASSERT_EQ(result.kind, AdmitResult::Kind::kFits);
          naive.tokens[id] = tokens;
          final_length[id] = final_tokens;
          ++fits;
        }
      } else if (random() % 4 != 0 && naive.tokens[id] < final_length[id]) {
        // Mostly a few tokens, sometimes several blocks at once.
        const int64_t most = random() % 8 == 0 ? 3 * block_size + 2 : 3;
        const int64_t n = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most));
        const bool has_room =
            naive.BlocksFor(naive.tokens[id] + n) - naive.BlocksFor(naive.tokens[id]) <=
            naive.FreeBlocks();
        ASSERT_EQ(cache.Extend(id, n), has_room);
        if (has_room) {
          naive.tokens[id] += n;
        } else {
          ++refused_growth;
        }
      } else if (random() % 20 == 0) {
        // As many steps of a token for everyone as the naive cache has room for, and not one more.
        const int64_t limit = static_cast<int64_t>(random() % 60);
        std::vector<Usage> after;
        while (static_cast<int64_t>(after.size()) < limit) {
          int64_t needed = 0;
          for (const auto& [held, n] : naive.tokens) {
            needed += naive.BlocksFor(n + 1) - naive.BlocksFor(n);
          }
          if (needed > naive.FreeBlocks()) {
            break;
          }
          for (auto& [held, n] : naive.tokens) {
            ++n;
            final_length[held] = std::max(final_length[held], n);
          }
          after.push_back(naive.usage());
        }
        const auto steps = static_cast<int64_t>(after.size());
        ASSERT_EQ(cache.EqualSteps(limit), steps);
        const UsageSeries series = cache.ExtendAll(steps);
        UsageSeries expected;
        for (int64_t j = 0; j < steps; ++j) {
          for (const auto part : {&Usage::live, &Usage::rounding, &Usage::free}) {
            expected.sum.*part += after[static_cast<size_t>(j)].*part;
            expected.moment.*part += j * (after[static_cast<size_t>(j)].*part);
          }
        }
        ASSERT_EQ(series.sum, expected.sum);
        ASSERT_EQ(series.moment, expected.moment);
      } else if (random() % 8 == 0) {
        cache.Release(id);
        naive.tokens.erase(id);
      }
      ASSERT_EQ(cache.usage(), naive.usage()) << "block size " << block_size << ", step " << step;
    }
    EXPECT_GT(fits, 100);
    EXPECT_GT(waits, 100);
    EXPECT_GT(refused_growth, 10);
    for (const auto& [id, n] : naive.tokens) {
      cache.Release(id);
    }
    EXPECT_EQ(cache.usage().allocated(), 0);
  }
}

TEST(PagedCacheTest, TokensKeepTheirSlotsAndShareNone) {
  PagedCache cache(640, 8);
  std::map<std::pair<SequenceId, int64_t>, int64_t> first_seen;
  for (SequenceId id = 0; id < 5; ++id) {
    ASSERT_EQ(cache.Admit(Of(id, 3 + id, 100)).kind, AdmitResult::Kind::kFits);
  }
  for (int round = 0; round < 60; ++round) {
    std::set<int64_t> taken;
    for (SequenceId id = 0; id < 5; ++id) {
      const int64_t tokens = 3 + id + round;
      const SlotView view = cache.slots(id);
      ASSERT_EQ(view.blocks.size(), static_cast<size_t>((tokens + 7) / 8));
      for (int64_t token = 0; token < tokens; ++token) {
        const int64_t slot = view.slot(token);
        ASSERT_TRUE(taken.insert(slot).second) << "two tokens in slot " << slot;
        ASSERT_GE(slot, 0);
        ASSERT_LT(slot, cache.capacity_slots());
        const auto [seen, inserted] = first_seen.insert({{id, token}, slot});
        ASSERT_EQ(seen->second, slot);
      }
      ASSERT_TRUE(cache.Extend(id, 1));
    }
  }
}

TEST(PagedCacheTest, WatermarkIsOnePercentOfTheBlocksRoundedDown) {
  EXPECT_EQ(PagedCache(99 * 16, 16).watermark_slots(), 0);
  EXPECT_EQ(PagedCache(100 * 16, 16).watermark_slots(), 16);
  EXPECT_EQ(PagedCache(981 * 16, 16).watermark_slots(), 9 * 16);
  EXPECT_EQ(PagedCache(15'700, 16).capacity_slots(), 15'696);  // whole blocks
}

TEST(PagedCacheTest, FitsUpToTotalMinusWatermarkAndNotOneTokenMore) {
  PagedCache cache(200 * 16, 16);
  const int64_t most = 198 * 16;
  EXPECT_EQ(cache.Admit(Of(0, most + 1, most + 1)).kind, AdmitResult::Kind::kNeverFits);
  EXPECT_EQ(cache.Admit(Of(0, 1, most + 1)).kind, AdmitResult::Kind::kNeverFits);
  EXPECT_EQ(cache.Admit(Of(0, most, most)).kind, AdmitResult::Kind::kFits);
  EXPECT_EQ(cache.usage().free, 32);
  // The watermark is for those who run: growth may use it.
  EXPECT_EQ(cache.Admit(Of(1, 1, 2)).kind, AdmitResult::Kind::kWait);
  EXPECT_TRUE(cache.Extend(0, 32));
  EXPECT_FALSE(cache.Extend(0, 1));
  EXPECT_EQ(cache.usage().live, 200 * 16);
}

TEST(PagedCacheTest, LastBlockGivenBackIsTheFirstTaken) {
  PagedCache cache(64, 16);
  ASSERT_EQ(cache.Admit(Of(0, 32, 33)).kind, AdmitResult::Kind::kFits);
  const std::vector<int32_t> before(cache.slots(0).blocks.begin(), cache.slots(0).blocks.end());
  cache.Release(0);
  ASSERT_EQ(cache.Admit(Of(1, 32, 33)).kind, AdmitResult::Kind::kFits);
  const std::vector<int32_t> after(cache.slots(1).blocks.begin(), cache.slots(1).blocks.end());
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace kvbench
