#include "baselines/contiguous_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/baselines/naive_buddy.h"

namespace kvbench {
namespace {

int64_t NextPowerOfTwo(int64_t n) {
  int64_t power = 1;
  while (power < n) {
    power *= 2;
  }
  return power;
}

/// The slow, obvious contiguous cache: prompt, output and length of each sequence, usage counted
/// afresh by the rules of the usage table (docs/design.md).
struct NaiveContiguous {
  struct Sequence {
    int64_t prompt, output, length, offset, chunk_units;
  };
  Reservation reservation;
  int64_t units;
  int64_t max_model_len;
  NaiveBuddy buddy;
  std::map<SequenceId, Sequence> sequences;

  NaiveContiguous(Reservation r, int64_t slots, int64_t mml)
      : reservation(r),
        units(slots / 16),
        max_model_len(mml),
        buddy(units, NextPowerOfTwo((mml + 15) / 16)) {}

  int64_t Wanted(int64_t prompt, int64_t output) const {
    const int64_t estimate = reservation == Reservation::kMax    ? max_model_len
                             : reservation == Reservation::kPow2 ? NextPowerOfTwo(output)
                                                                 : output;
    return std::min(prompt + estimate, max_model_len);
  }
  Usage usage() const {
    Usage usage;
    usage.free = units * 16;
    for (const auto& [id, s] : sequences) {
      const int64_t wanted = Wanted(s.prompt, s.output);
      usage.live += s.length;
      usage.reserved += s.prompt + s.output - s.length;
      usage.overestimate += wanted - (s.prompt + s.output);
      usage.rounding += s.chunk_units * 16 - wanted;
      usage.free -= s.chunk_units * 16;
    }
    return usage;
  }
};

class ContiguousCacheTest : public testing::TestWithParam<Reservation> {};

TEST_P(ContiguousCacheTest, MatchesTheNaiveModelUnderRandomOperations) {
  for (const int64_t max_model_len : {16, 100, 512, 1000, 2048}) {
    std::mt19937 random(static_cast<uint32_t>(max_model_len));
    const int64_t slots =
        max_model_len * 7 + static_cast<int64_t>(random() % static_cast<uint64_t>(max_model_len));
    ContiguousCache cache(GetParam(), slots, max_model_len);
    NaiveContiguous naive(GetParam(), slots, max_model_len);
    int waits = 0;
    for (int step = 0; step < 10000; ++step) {
      const auto id = static_cast<SequenceId>(random() % 64);
      const auto found = naive.sequences.find(id);
      if (found == naive.sequences.end()) {
        const int64_t prompt = 1 + static_cast<int64_t>(random() % (max_model_len * 2 / 3));
        const int64_t output = 1 + static_cast<int64_t>(random() % (max_model_len * 2 / 3));
        const int64_t tokens = 1 + static_cast<int64_t>(random() % prompt);
        const AdmitResult result = cache.Admit({.sequence = id,
                                                .tokens = tokens,
                                                .estimate = output,
                                                .final_length = prompt + output});
        if (prompt + output > max_model_len) {
          ASSERT_EQ(result.kind, AdmitResult::Kind::kNeverFits);
          continue;
        }
        const int64_t chunk = NextPowerOfTwo((naive.Wanted(prompt, output) + 15) / 16);
        const int64_t offset = naive.buddy.Allocate(chunk);
        if (offset < 0) {
          ASSERT_EQ(result.kind, AdmitResult::Kind::kWait);
          ++waits;
        } else {
          ASSERT_EQ(result.kind, AdmitResult::Kind::kFits);
          ASSERT_EQ(cache.slots(id).first_slot, offset * 16);
          ASSERT_EQ(cache.slots(id).chunk_slots, chunk * 16);
          naive.sequences[id] = {prompt, output, tokens, offset, chunk};
        }
      } else if (random() % 8 != 0) {
        NaiveContiguous::Sequence& s = found->second;
        const int64_t left = s.prompt + s.output - s.length;
        if (left > 0) {
          const int64_t n = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(left));
          ASSERT_TRUE(cache.Extend(id, n));
          s.length += n;
        }
      } else {
        cache.Release(id);
        naive.buddy.Free(found->second.offset, found->second.chunk_units);
        naive.sequences.erase(found);
      }
      ASSERT_EQ(cache.usage(), naive.usage())
          << "max_model_len " << max_model_len << ", step " << step;
      ASSERT_EQ(cache.usage().capacity(), cache.capacity_slots());
    }
    EXPECT_GT(waits, 100);
    for (const auto& [id, s] : naive.sequences) {
      cache.Release(id);
    }
    EXPECT_EQ(cache.usage().allocated(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Reservations, ContiguousCacheTest,
                         testing::Values(Reservation::kMax, Reservation::kPow2,
                                         Reservation::kOracle));

TEST(ContiguousCacheTest, PapersFigure13HasSevenRequestsUnderMax) {
  // OPT-13B on a 40 GB A100: 15,728 slots, 2,048 tokens at most: floor(15,728 / 2,048) = 7.
  ContiguousCache cache(Reservation::kMax, 15'728, 2'048);
  SequenceId admitted = 0;
  while (cache.Admit({.sequence = admitted, .tokens = 1, .estimate = 1, .final_length = 2}).kind ==
         AdmitResult::Kind::kFits) {
    ++admitted;
  }
  EXPECT_EQ(admitted, 7);
}

TEST(ContiguousCacheTest, UsageTableByHand) {
  // P = 20, O = 25, newest token included L = 21; max_model_len 100 (chunk of 8 units = 128 slots).
  const auto usage_of = [](Reservation reservation) {
    ContiguousCache cache(reservation, 1024, 100);
    EXPECT_EQ(cache.Admit({.sequence = 0, .tokens = 21, .estimate = 25, .final_length = 45}).kind,
              AdmitResult::Kind::kFits);
    return cache.usage();
  };
  EXPECT_EQ(usage_of(Reservation::kOracle), (Usage{21, 24, 0, 19, 1024 - 64}));
  EXPECT_EQ(usage_of(Reservation::kPow2), (Usage{21, 24, 7, 12, 1024 - 64}));
  EXPECT_EQ(usage_of(Reservation::kMax), (Usage{21, 24, 55, 28, 1024 - 128}));
}

TEST(ContiguousCacheTest, ChunkLargerThanTheCacheNeverFits) {
  ContiguousCache cache(Reservation::kMax, 1'000, 2'048);
  const AdmitResult result =
      cache.Admit({.sequence = 0, .tokens = 1, .estimate = 1, .final_length = 2});
  EXPECT_EQ(result.kind, AdmitResult::Kind::kNeverFits);
  EXPECT_EQ(result.reason, "the chunk is larger than the cache's largest, 512 slots");
}

}  // namespace
}  // namespace kvbench
