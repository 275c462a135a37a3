#include "bench/gpu/decode_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "bench/gpu/kv_arena.h"
#include "kernels/cuda/simulated_device.h"
#include "kernels/reference/attention.h"

namespace kvbench::gpu {
namespace {

std::set<std::string> Names(const std::vector<DecodeCell>& cells) {
  std::set<std::string> names;
  for (const DecodeCell& cell : cells) {
    names.insert(cell.Name());
  }
  return names;
}

TEST(DecodeGrid, FortyCellsFirstAndAHundredAndSixtyInAll) {
  const std::set<std::string> first = Names(DecodeGrid(GridPart::kFirst));
  const std::set<std::string> rest = Names(DecodeGrid(GridPart::kRest));
  const std::set<std::string> all = Names(DecodeGrid(GridPart::kAll));
  EXPECT_EQ(first.size(), 40u);
  EXPECT_EQ(rest.size(), 120u);
  EXPECT_EQ(all.size(), 160u);
  std::set<std::string> both = first;
  both.insert(rest.begin(), rest.end());
  EXPECT_EQ(both, all);
}

TEST(DecodeGrid, HoldsTheAxesAndBothTargets) {
  std::set<int32_t> contexts;
  std::set<int32_t> batches;
  for (const DecodeCell& cell : DecodeGrid(GridPart::kAll)) {
    contexts.insert(cell.context);
    batches.insert(cell.batch);
    EXPECT_LE(cell.KvBytes(), int64_t{33} << 30) << cell.Name();
  }
  EXPECT_THAT(contexts, testing::ElementsAre(512, 2048, 8192, 32768));
  EXPECT_EQ(*batches.begin(), 1);
  EXPECT_EQ(*batches.rbegin(), 256);
  // Every kind of head has cells that each target speaks of, among the first already.
  std::set<std::string> at_512_mb;
  for (const DecodeCell& cell : DecodeGrid(GridPart::kFirst)) {
    if (cell.KvBytes() >= 512'000'000) {
      at_512_mb.insert(cell.attention + " " + cell.LayoutName());
    }
  }
  EXPECT_EQ(at_512_mb.size(), 8u);
}

TEST(DecodeGrid, Fig18aHasBothCachesUnderBothKernels) {
  const std::vector<DecodeCell> cells = Fig18aGrid(false);
  EXPECT_EQ(Names(cells).size(), 6u * 2 * 4);
  EXPECT_EQ(cells[0].Name(), "MHA vllm_v1 contiguous 64 x 8");
  EXPECT_EQ(cells[3].Name(), "MHA paged-16 64 x 8");
  EXPECT_EQ(cells[0].num_heads, 40);
}

TEST(PlacedCell, EveryTokenHasARoomOfItsOwnInThePool) {
  std::mt19937_64 random(3);
  for (const int32_t block_size : {0, 1, 16, 64}) {
    const DecodeCell cell = {.num_heads = 4,
                             .num_kv_heads = 2,
                             .head_dim = 64,
                             .block_size = block_size,
                             .context = 70,
                             .batch = 3};
    const PlacedCell placed(cell, random);
    ASSERT_EQ(placed.sequences().size(), 3u);
    std::set<int64_t> rows;
    for (const AttentionSequence& sequence : placed.sequences()) {
      for (int32_t head = 0; head < cell.num_kv_heads; ++head) {
        for (int32_t key = 0; key < cell.context; ++key) {
          const int64_t offset = KvElementOffset(placed.layout(), sequence, head, key);
          EXPECT_EQ(offset % cell.head_dim, 0);
          EXPECT_GE(offset, 0);
          EXPECT_LE(2 * (offset + cell.head_dim), cell.PoolBytes());
          rows.insert(offset);
        }
      }
    }
    EXPECT_EQ(rows.size(), 3u * 70 * 2) << block_size;
    const AttentionCall call{.num_kv_heads = 2,
                             .head_dim = 64,
                             .layout = placed.layout(),
                             .sequences = placed.sequences()};
    EXPECT_EQ(cell.KvBytes(), AttentionKvBytes(call));
  }
}

TEST(PlacedCell, BlocksAreShuffled) {
  std::mt19937_64 random(3);
  const PlacedCell placed({.block_size = 1, .context = 64, .batch = 1}, random);
  const int32_t* const blocks = placed.sequences()[0].blocks;
  EXPECT_FALSE(std::is_sorted(blocks, blocks + 64));
}

TEST(KvArena, HoldsWhatItSays) {
  SimulatedDevice device;
  constexpr int64_t kTile = 48;
  const KvArena arena(device, 200, kTile);
  ASSERT_EQ(arena.bytes(), 240);
  std::vector<uint16_t> elements(120);
  device.CopyToHost(elements.data(), arena.data(), 240);
  for (int64_t i = 0; i < 120; ++i) {
    EXPECT_EQ(elements[static_cast<size_t>(i)], elements[static_cast<size_t>(i % 24)]);
  }
  EXPECT_NE(arena.ElementAt(0), arena.ElementAt(2));
  EXPECT_EQ(arena.ElementAt(2), arena.ElementAt(2 + 2 * kTile));
}

}  // namespace
}  // namespace kvbench::gpu
