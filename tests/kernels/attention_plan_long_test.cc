#include "kernels/cpu/attention_plan.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace kvbench {
namespace {

std::vector<AttentionSequence> RandomSequences(std::mt19937& random, int count, int longest) {
  std::vector<AttentionSequence> sequences;
  for (int i = 0; i < count; ++i) {
    AttentionSequence sequence;
    sequence.context = 1 + static_cast<int32_t>(random() % static_cast<uint32_t>(longest));
    const uint32_t kind = random() % 4;
    if (kind == 0) {
      sequence.num_queries =
          1 + static_cast<int32_t>(random() % static_cast<uint32_t>(sequence.context));
    } else if (kind < 3) {
      sequence.num_queries = 1;
    }  // else nothing this step
    sequences.push_back(sequence);
  }
  return sequences;
}

int64_t ItemCost(const AttentionItem& item, int32_t group) {
  return AttentionPlan::Cost(int64_t{item.num_queries} * group, item.end_key - item.first_key);
}

// Each (sequence, query) must meet the keys [0, end) in adjacent pieces, end covering its own
// position.
void ExpectCoversOnce(const AttentionPlan& plan, const std::vector<AttentionSequence>& sequences) {
  std::map<std::pair<int32_t, int32_t>, int32_t> reached;
  for (const AttentionItem& item : plan.items()) {
    const AttentionSequence& sequence = sequences[static_cast<size_t>(item.sequence)];
    ASSERT_GT(item.num_queries, 0);
    ASSERT_LE(item.first_query + item.num_queries, sequence.num_queries);
    ASSERT_LT(item.first_key, item.end_key);
    ASSERT_LE(item.end_key, sequence.context);
    for (int32_t query = item.first_query; query < item.first_query + item.num_queries; ++query) {
      int32_t& end = reached[{item.sequence, query}];
      ASSERT_EQ(item.first_key, end);
      end = item.end_key;
    }
  }
  size_t queries = 0;
  for (size_t s = 0; s < sequences.size(); ++s) {
    const AttentionSequence& sequence = sequences[s];
    for (int32_t query = 0; query < sequence.num_queries; ++query, ++queries) {
      const auto end = reached.find({static_cast<int32_t>(s), query});
      ASSERT_NE(end, reached.end());
      ASSERT_GT(end->second, sequence.context - sequence.num_queries + query);
    }
  }
  ASSERT_EQ(queries, reached.size());
}

void ExpectSplitsConsistent(const AttentionPlan& plan, int32_t num_heads) {
  int64_t partial_rows = 0;
  std::vector<int32_t> pieces(plan.splits().size());
  for (size_t i = 0; i < plan.items().size(); ++i) {
    const AttentionItem& item = plan.items()[i];
    if (item.split < 0) continue;
    const AttentionSplit& split = plan.splits()[static_cast<size_t>(item.split)];
    ASSERT_GE(static_cast<int32_t>(i), split.first_item);
    ASSERT_LT(static_cast<int32_t>(i), split.first_item + split.num_items);
    ASSERT_EQ(item.partial_row, partial_rows);
    partial_rows += int64_t{item.num_queries} * num_heads;
    ASSERT_GE(item.end_key - item.first_key, AttentionPlan::kMinSplitKeys);
    ASSERT_EQ(item.first_key % AttentionPlan::kSplitAlign, 0);
    ++pieces[static_cast<size_t>(item.split)];
  }
  ASSERT_EQ(partial_rows, plan.partial_rows());
  for (size_t i = 0; i < pieces.size(); ++i) {
    ASSERT_EQ(pieces[i], plan.splits()[i].num_items);
    ASSERT_GE(pieces[i], 2);
  }
}

TEST(AttentionPlanTest, CoversEachQueryAndKeyOnceAndBalances) {
  std::mt19937 random(7);
  AttentionPlan plan;
  for (int repeat = 0; repeat < 1500; ++repeat) {
    const int count = static_cast<int>(random() % 20);
    const auto sequences = RandomSequences(random, count, repeat % 3 == 0 ? 5000 : 600);
    const int32_t group = 1 << (random() % 6);
    const int32_t kv_heads = 1 + static_cast<int32_t>(random() % 8);
    const int threads = 1 + static_cast<int>(random() % 9);
    plan.Build(sequences, {group * kv_heads, kv_heads, threads});
    ASSERT_EQ(plan.num_threads(), threads);
    ExpectCoversOnce(plan, sequences);
    ExpectSplitsConsistent(plan, group * kv_heads);

    int64_t total = 0;
    int64_t most = 0;
    int64_t largest_piece = 0;
    size_t items = 0;
    for (int thread = 0; thread < threads; ++thread) {
      int64_t cost = 0;
      for (const AttentionItem& item : plan.items(thread)) {
        cost += ItemCost(item, group);
        const int64_t rows = int64_t{item.num_queries} * group;
        // What cannot be cut: a short item, or the least piece and the rounding of a cut.
        largest_piece =
            std::max(largest_piece, AttentionPlan::Cost(rows, 2 * AttentionPlan::kMinSplitKeys));
      }
      items += plan.items(thread).size();
      total += cost;
      most = std::max(most, cost);
    }
    ASSERT_EQ(items, plan.items().size());
    ASSERT_LE(most, total / threads + largest_piece);
  }
}

TEST(AttentionPlanTest, OneLongSequenceUsesAllThreadsEvenly) {
  AttentionSequence sequence;
  sequence.context = 32768;
  sequence.num_queries = 1;
  AttentionPlan plan;
  plan.Build({&sequence, 1}, {8, 8, 2});
  ASSERT_EQ(plan.items().size(), 2u);
  EXPECT_EQ(plan.items(0)[0].end_key, 16384);
  EXPECT_EQ(plan.items(1)[0].first_key, 16384);
  EXPECT_EQ(plan.partial_rows(), 16);
}

TEST(AttentionPlanTest, ShortSequencesAreNotSplit) {
  std::vector<AttentionSequence> sequences(7);
  for (AttentionSequence& sequence : sequences) {
    sequence.context = 2 * AttentionPlan::kMinSplitKeys - 1;
    sequence.num_queries = 1;
  }
  AttentionPlan plan;
  plan.Build(sequences, {8, 8, 2});
  EXPECT_TRUE(plan.splits().empty());
  EXPECT_EQ(plan.items().size(), 7u);
  EXPECT_EQ(plan.partial_rows(), 0);
}

TEST(AttentionPlanTest, TheSameSequencesGiveTheSamePlanInReusedMemory) {
  std::mt19937 random(9);
  const auto sequences = RandomSequences(random, 30, 3000);
  AttentionPlan plan;
  plan.Build(sequences, {8, 2, 3});
  const std::vector<AttentionItem> first(plan.items().begin(), plan.items().end());
  const AttentionItem* const memory = plan.items().data();
  plan.Build({}, {8, 2, 3});
  EXPECT_TRUE(plan.items().empty());
  plan.Build(sequences, {8, 2, 3});
  EXPECT_EQ(plan.items().data(), memory);
  ASSERT_EQ(plan.items().size(), first.size());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(plan.items()[i].sequence, first[i].sequence);
    EXPECT_EQ(plan.items()[i].first_key, first[i].first_key);
    EXPECT_EQ(plan.items()[i].end_key, first[i].end_key);
  }
}

}  // namespace
}  // namespace kvbench
