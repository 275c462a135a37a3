#include "baselines/growing_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "tests/baselines/naive_buddy.h"

namespace kvbench {
namespace {

int64_t UnitsOf(int64_t slots) {
  int64_t units = 1;
  while (16 * units < slots) {
    units *= 2;
  }
  return units;
}

/// The slow, obvious growing cache: chunks as (offset, units), usage counted afresh.
struct NaiveGrowing {
  struct Chunk {
    int64_t offset, units;
  };
  struct Sequence {
    int64_t wanted, final_length, length;
    Chunk chunk;
  };
  struct Move {
    SequenceId sequence;
    Chunk from, to;
    int64_t tokens;
  };
  Growth growth;
  int64_t units;
  int64_t max_model_len;
  NaiveBuddy buddy;
  std::map<SequenceId, Sequence> sequences;
  std::vector<Move> moves;  // of this step

  NaiveGrowing(Growth g, int64_t slots, int64_t longest)
      : growth(g), units(slots / 16), max_model_len(longest), buddy(units, UnitsOf(longest)) {}

  /// What the known tokens still want.
  static int64_t Reserved(const Sequence& s) { return std::max(s.wanted - s.length, int64_t{0}); }
  AdmitResult::Kind Admit(SequenceId id, int64_t tokens, int64_t known, int64_t final_length) {
    const int64_t copies = growth == Growth::kConcat ? 2 : 1;
    if (final_length > max_model_len || copies * UnitsOf(final_length) > units) {
      return AdmitResult::Kind::kNeverFits;
    }
    const int64_t wanted = growth == Growth::kDouble ? std::max(tokens, known + 1) : tokens;
    const int64_t chunk = UnitsOf(wanted);
    int64_t taken = chunk;
    for (const auto& [other, s] : sequences) {
      taken += s.chunk.units;
    }
    if (growth == Growth::kConcat && 2 * taken > units) {
      return AdmitResult::Kind::kWait;
    }
    const int64_t offset = buddy.Allocate(chunk);
    if (offset < 0) {
      return AdmitResult::Kind::kWait;
    }
    sequences[id] = {wanted, final_length, tokens, {offset, chunk}};
    return AdmitResult::Kind::kFits;
  }
  bool Extend(SequenceId id, int64_t n) {
    Sequence& s = sequences.at(id);
    if (growth == Growth::kConcat || s.length + n > 16 * s.chunk.units) {
      const int64_t chunk = UnitsOf(s.length + n);
      const int64_t offset = buddy.Allocate(chunk);
      if (offset < 0) {
        return false;
      }
      moves.push_back({id, s.chunk, {offset, chunk}, s.length});
      s.chunk = {offset, chunk};
    }
    s.length += n;
    return true;
  }
  void Release(SequenceId id) {
    std::vector<Move> others;
    for (const Move& move : moves) {
      if (move.sequence == id) {
        buddy.Free(move.from.offset, move.from.units);
      } else {
        others.push_back(move);
      }
    }
    moves = others;
    buddy.Free(sequences.at(id).chunk.offset, sequences.at(id).chunk.units);
    sequences.erase(id);
  }
  void EndStep() {
    for (const Move& move : moves) {
      buddy.Free(move.from.offset, move.from.units);
    }
    moves.clear();
  }
  Usage usage() const {
    Usage usage;
    usage.free = units * 16;
    for (const auto& [id, s] : sequences) {
      usage.live += s.length;
      usage.reserved += Reserved(s);
      usage.rounding += 16 * s.chunk.units - s.length - Reserved(s);
      usage.free -= 16 * s.chunk.units;
    }
    for (const Move& move : moves) {
      usage.rounding += 16 * move.from.units;
      usage.free -= 16 * move.from.units;
    }
    return usage;
  }
};

class GrowingCacheTest : public testing::TestWithParam<Growth> {};

void ExpectSameMoves(const std::vector<Operation>& operations,
                     const std::vector<NaiveGrowing::Move>& moves) {
  ASSERT_EQ(operations.size(), moves.size());
  for (size_t i = 0; i < moves.size(); ++i) {
    ASSERT_EQ(operations[i].kind, Operation::Kind::kMove);
    ASSERT_EQ(operations[i].sequence, moves[i].sequence);
    ASSERT_EQ(operations[i].from.first_slot, 16 * moves[i].from.offset);
    ASSERT_EQ(operations[i].from.slots, 16 * moves[i].from.units);
    ASSERT_EQ(operations[i].to.first_slot, 16 * moves[i].to.offset);
    ASSERT_EQ(operations[i].to.slots, 16 * moves[i].to.units);
    ASSERT_EQ(operations[i].tokens, moves[i].tokens);
  }
}

TEST_P(GrowingCacheTest, MatchesTheNaiveModelUnderRandomOperations) {
  for (const int64_t max_model_len : {16, 100, 512, 1000, 2048}) {
    std::mt19937 random(static_cast<uint32_t>(max_model_len));
    const auto below = [&](int64_t n) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
    };
    const int64_t slots = max_model_len * 7 + below(max_model_len);
    GrowingCache cache(GetParam(), slots, max_model_len);
    NaiveGrowing naive(GetParam(), slots, max_model_len);
    int waits = 0;
    int refusals = 0;
    int moves = 0;
    for (int step = 0; step < 10000; ++step) {
      const auto id = static_cast<SequenceId>(random() % 16);
      const auto found = naive.sequences.find(id);
      if (random() % 8 == 0) {
        cache.FinishOperations();
        naive.EndStep();
      } else if (found == naive.sequences.end()) {
        const int64_t prompt = 1 + below(std::max<int64_t>(max_model_len / 3, 2));
        const int64_t output = 1 + below(max_model_len * 5 / 6);
        const int64_t tokens = 1 + below(prompt + 1);
        const AdmitResult result = cache.Admit({.sequence = id,
                                                .tokens = tokens,
                                                .estimate = output,
                                                .final_length = prompt + output,
                                                .known = prompt});
        ASSERT_EQ(result.kind, naive.Admit(id, tokens, prompt, prompt + output));
        waits += result.kind == AdmitResult::Kind::kWait ? 1 : 0;
      } else if (random() % 16 != 0 && found->second.length < found->second.final_length) {
        const int64_t left = found->second.final_length - found->second.length;
        const int64_t n = random() % 2 == 0 ? 1 : 1 + below(left);
        const bool room = cache.Extend(id, n);
        ASSERT_EQ(room, naive.Extend(id, n));
        refusals += room ? 0 : 1;
        moves += !naive.moves.empty() && naive.moves.back().sequence == id ? 1 : 0;
      } else {
        cache.Release(id);
        naive.Release(id);
      }
      ASSERT_NO_FATAL_FAILURE(ExpectSameMoves(cache.operations(), naive.moves));
      ASSERT_EQ(cache.usage(), naive.usage())
          << "max_model_len " << max_model_len << ", step " << step;
      ASSERT_EQ(cache.usage().capacity(), cache.capacity_slots());
    }
    EXPECT_GT(waits, 30);
    EXPECT_TRUE(refusals > 100 || max_model_len == 16);
    EXPECT_TRUE(moves > 300 || max_model_len == 16) << moves << " of " << max_model_len;
    while (!naive.sequences.empty()) {
      const SequenceId id = naive.sequences.begin()->first;
      cache.Release(id);
      naive.Release(id);
    }
    EXPECT_EQ(cache.usage().allocated(), 0) << "and no operation keeps a chunk";
    EXPECT_TRUE(cache.operations().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Growths, GrowingCacheTest,
                         testing::Values(Growth::kDouble, Growth::kConcat));

Admission Request(SequenceId id, int64_t prompt, int64_t output) {
  return {.sequence = id,
          .tokens = prompt + 1,
          .estimate = output,
          .final_length = prompt + output,
          .known = prompt};
}

TEST(GrowingCacheTest, DoublesAFullChunkByHand) {
  GrowingCache cache(Growth::kDouble, 256, 128);
  ASSERT_EQ(cache.Admit(Request(0, 30, 60)).kind, AdmitResult::Kind::kFits);
  EXPECT_EQ(cache.usage(), (Usage{31, 0, 0, 1, 224}));
  EXPECT_EQ(cache.EqualSteps(10), 1) << "one more token finds room where it is";
  cache.ExtendAll(1);
  EXPECT_EQ(cache.EqualSteps(10), 0) << "the next one has to move";
  EXPECT_TRUE(cache.HasRoom());
  ASSERT_TRUE(cache.Extend(0, 1));
  ASSERT_EQ(cache.operations().size(), 1U);
  EXPECT_EQ(cache.operations()[0].tokens, 32);
  EXPECT_EQ(cache.usage(), (Usage{33, 0, 0, 31 + 32, 256 - 64 - 32})) << "old and new are held";
  cache.FinishOperations();
  EXPECT_EQ(cache.usage(), (Usage{33, 0, 0, 31, 256 - 64}));
  EXPECT_EQ(cache.EqualSteps(100), 31);
}

TEST(GrowingCacheTest, ConcatTakesANewChunkForEveryToken) {
  GrowingCache cache(Growth::kConcat, 256, 128);
  ASSERT_EQ(cache.Admit(Request(0, 30, 60)).kind, AdmitResult::Kind::kFits);
  for (int64_t length = 31; length < 90; ++length) {
    const int64_t before = cache.slots(0).first_slot;
    EXPECT_EQ(cache.EqualSteps(1), 0);
    ASSERT_TRUE(cache.Extend(0, 1));
    ASSERT_EQ(cache.operations().size(), 1U);
    EXPECT_EQ(cache.operations()[0].tokens, length);
    EXPECT_NE(cache.slots(0).first_slot, before);
    cache.FinishOperations();
  }
}

TEST(GrowingCacheTest, ASequenceThatFindsNoLargerChunkBesideItsOwnIsTakenToItAnew) {
  GrowingCache cache(Growth::kDouble, 128, 128);
  ASSERT_EQ(cache.Admit(Request(0, 63, 60)).kind, AdmitResult::Kind::kFits);
  EXPECT_FALSE(cache.Extend(0, 1)) << "64 slots are its own, and 128 are all";
  EXPECT_TRUE(cache.operations().empty());
  cache.Release(0);
  EXPECT_EQ(cache.Admit({.sequence = 0, .tokens = 65, .estimate = 60, .final_length = 123}).kind,
            AdmitResult::Kind::kFits);
  EXPECT_TRUE(cache.Extend(0, 58));
}

}  // namespace
}  // namespace kvbench
