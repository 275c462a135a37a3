#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "kernels/cuda/attention_plan.h"

namespace kvbench {
namespace {

struct Sequences {
  std::vector<AttentionSequence> list;
  std::vector<std::vector<int32_t>> blocks;
};

Sequences Draw(std::mt19937_64& random, int32_t block_size) {
  Sequences drawn;
  const auto count = static_cast<int>(random() % 40);
  int64_t row = 0;
  for (int i = 0; i < count; ++i) {
    AttentionSequence sequence;
    sequence.context = static_cast<int32_t>(1 + random() % (random() % 4 == 0 ? 20000 : 300));
    sequence.num_queries =
        random() % 3 == 0
            ? static_cast<int32_t>(1 + random() % static_cast<uint64_t>(sequence.context))
            : 1;
    sequence.first_query = row;
    row += sequence.num_queries;
    std::vector<int32_t> blocks;
    for (int32_t b = 0; block_size > 0 && b * block_size < sequence.context; ++b) {
      blocks.push_back(static_cast<int32_t>(random() % 100000));
    }
    drawn.blocks.push_back(std::move(blocks));
    drawn.list.push_back(sequence);
  }
  for (size_t i = 0; i < drawn.list.size(); ++i) drawn.list[i].blocks = drawn.blocks[i].data();
  return drawn;
}

int64_t Ctas(const std::vector<AttentionSequence>& sequences, int32_t part, int32_t kv_heads) {
  int64_t sum = 0;
  for (const AttentionSequence& s : sequences) {
    if (s.num_queries == 1) sum += (s.context + part - 1) / part;
  }
  return sum * kv_heads;
}

TEST(DeviceAttentionPlan, CoversEveryQueryAndKeyOnce) {
  std::mt19937_64 random(1);
  DeviceAttentionPlan plan;
  for (int round = 0; round < 500; ++round) {
    DevicePlanShape shape;
    shape.block_size = round % 2 == 0 ? 16 : 0;
    shape.paged = shape.block_size > 0;
    shape.num_kv_heads = static_cast<int32_t>(1 + random() % 8);
    const auto group = static_cast<int32_t>(1 + random() % 40);
    shape.num_heads = shape.num_kv_heads * group;
    shape.cta_budget = static_cast<int32_t>(random() % 600);
    const Sequences drawn = Draw(random, shape.block_size);
    plan.Build(drawn.list, shape);

    ASSERT_EQ(plan.sequences().size(), drawn.list.size());
    // (sequence, query) -> key ranges
    std::map<std::pair<int32_t, int32_t>, std::vector<std::pair<int32_t, int32_t>>> ranges;
    std::set<int32_t> partial_rows;
    int32_t last = 1 << 30;
    for (size_t i = 0; i < plan.items().size(); ++i) {
      const DeviceItem& item = plan.items()[i];
      const AttentionSequence& s = drawn.list[static_cast<size_t>(item.sequence)];
      const bool decode = static_cast<int32_t>(i) < plan.decode_items();
      EXPECT_EQ(decode, s.num_queries == 1);
      if (static_cast<int32_t>(i) == plan.decode_items()) last = 1 << 30;
      const int32_t length = item.end_key - item.first_key;
      EXPECT_LE(length, last) << "longest first";
      last = length;
      EXPECT_LE(item.num_queries * group, std::max(shape.prompt_rows, group));
      for (int32_t q = 0; q < item.num_queries; ++q) {
        ranges[{item.sequence, item.first_query + q}].emplace_back(item.first_key, item.end_key);
      }
      if (item.partial_row >= 0) {
        EXPECT_TRUE(partial_rows.insert(item.partial_row).second);
      }
    }
    EXPECT_EQ(static_cast<int32_t>(partial_rows.size()), plan.partial_rows());
    std::set<int64_t> merged;
    for (const DeviceMerge& merge : plan.merges()) {
      EXPECT_TRUE(merged.insert(merge.row).second);
      EXPECT_GE(merge.parts, 2);
    }
    for (size_t i = 0; i < drawn.list.size(); ++i) {
      const AttentionSequence& s = drawn.list[i];
      for (int32_t q = 0; q < s.num_queries; ++q) {
        auto& found = ranges[{static_cast<int32_t>(i), q}];
        std::sort(found.begin(), found.end());
        ASSERT_FALSE(found.empty());
        EXPECT_EQ(found.front().first, 0);
        for (size_t r = 1; r < found.size(); ++r) EXPECT_EQ(found[r].first, found[r - 1].second);
        // Up to the query's own key at least, and no key that is not there.
        EXPECT_GE(found.back().second, s.context - s.num_queries + q + 1);
        EXPECT_LE(found.back().second, s.context);
        EXPECT_EQ(found.size() > 1, merged.contains(s.first_query) && s.num_queries == 1);
      }
      if (shape.paged) {
        const auto begin = static_cast<size_t>(plan.sequences()[i].first_block);
        for (size_t b = 0; b < drawn.blocks[i].size(); ++b) {
          EXPECT_EQ(plan.blocks()[begin + b], drawn.blocks[i][b]);
        }
      }
    }
  }
}

TEST(DeviceAttentionPlan, TakesTheShortestPartThatFitsTheBudget) {
  std::mt19937_64 random(2);
  DeviceAttentionPlan plan;
  for (int round = 0; round < 500; ++round) {
    const Sequences drawn = Draw(random, 0);
    DevicePlanShape shape;
    shape.num_kv_heads = static_cast<int32_t>(1 + random() % 8);
    shape.num_heads = shape.num_kv_heads;
    shape.cta_budget = static_cast<int32_t>(random() % 600);
    plan.Build(drawn.list, shape);
    int32_t longest = 0;
    for (const AttentionSequence& s : drawn.list) {
      if (s.num_queries == 1) longest = std::max(longest, s.context);
    }
    int32_t part = DeviceAttentionPlan::kMinPartKeys;
    while (part < longest && Ctas(drawn.list, part, shape.num_kv_heads) > shape.cta_budget) {
      part += DeviceAttentionPlan::kPartAlign;
    }
    EXPECT_EQ(plan.part_keys(), part);
  }
}

TEST(DeviceAttentionPlan, IsAPureFunction) {
  std::mt19937_64 random(3);
  const Sequences drawn = Draw(random, 16);
  const DevicePlanShape shape = {.num_heads = 8,
                                 .num_kv_heads = 2,
                                 .paged = true,
                                 .block_size = 16,
                                 .prompt_rows = 32,
                                 .cta_budget = 264};
  DeviceAttentionPlan first;
  DeviceAttentionPlan second;
  second.Build(Draw(random, 16).list, {.num_heads = 4, .num_kv_heads = 4});  // leaves no trace
  first.Build(drawn.list, shape);
  second.Build(drawn.list, shape);
  ASSERT_EQ(first.items().size(), second.items().size());
  for (size_t i = 0; i < first.items().size(); ++i) {
    EXPECT_EQ(first.items()[i].sequence, second.items()[i].sequence);
    EXPECT_EQ(first.items()[i].first_key, second.items()[i].first_key);
    EXPECT_EQ(first.items()[i].partial_row, second.items()[i].partial_row);
  }
}

}  // namespace
}  // namespace kvbench
