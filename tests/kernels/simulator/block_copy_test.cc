#include <numeric>

#include "kernels/cuda/block_copy_params.h"
#include "tests/kernels/simulator/kernel_runner.h"

namespace kvbench {
namespace {

constexpr int kPools = 3;
constexpr int kBlocks = 9;

class BlockCopyTest : public testing::Test {
 protected:
  std::vector<uint8_t> RandomBytes(int64_t count) {
    std::vector<uint8_t> bytes(static_cast<size_t>(count));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    return bytes;
  }

  /// Pools of random bytes, on the device and here.
  void MakePools(int64_t block_bytes) {
    pools_.clear();
    contents_.clear();
    for (int i = 0; i < kPools; ++i) {
      contents_.push_back(RandomBytes(kBlocks * block_bytes));
      pools_.push_back(runner_.Upload(contents_.back(), "pool"));
    }
    std::vector<uint8_t*> addresses;
    for (const Global<uint8_t>& pool : pools_) addresses.push_back(pool.address);
    table_ = runner_.Upload(addresses, "table");
  }
  void ResetPools() {
    for (size_t i = 0; i < pools_.size(); ++i) runner_.Write(pools_[i], contents_[i]);
  }
  std::vector<int32_t> ShuffledBlocks() {
    std::vector<int32_t> blocks(kBlocks);
    std::iota(blocks.begin(), blocks.end(), 0);
    std::shuffle(blocks.begin(), blocks.end(), random_);
    return blocks;
  }
  static void CopyBlock(const std::vector<uint8_t>& from, int64_t from_block,
                        std::vector<uint8_t>& to, int64_t to_block, int64_t block_bytes) {
    std::copy_n(from.begin() + from_block * block_bytes, block_bytes,
                to.begin() + to_block * block_bytes);
  }

  std::mt19937 random_{11};
  KernelRunner runner_;
  std::vector<std::vector<uint8_t>> contents_;
  std::vector<Global<uint8_t>> pools_;
  Global<uint8_t*> table_;
};

// Less than a thread's four vectors, one more than the CTA's, several rounds.
constexpr int64_t kBlockBytes[] = {16, 48, 2048 + 16, 8192 + 32, 16384};

TEST_F(BlockCopyTest, CopiesAndNothingElse) {
  for (const int64_t block_bytes : kBlockBytes) {
    SCOPED_TRACE(block_bytes);
    MakePools(block_bytes);
    const std::vector<int32_t> blocks = ShuffledBlocks();
    // One source twice, as when a block is shared by two sequences.
    const std::vector<BlockMove> moves = {
        {blocks[0], blocks[1]}, {blocks[2], blocks[3]}, {blocks[0], blocks[4]}};
    auto expected = contents_;
    for (auto& pool : expected) {
      for (const BlockMove& move : moves) CopyBlock(pool, move.from, pool, move.to, block_bytes);
    }
    const BlockCopyParams params{.moves = runner_.Upload(moves, "moves"),
                                 .pools = {table_.address},
                                 .block_bytes = block_bytes};
    const int count = static_cast<int>(moves.size());
    const AccessLog log = runner_.ForEachSchedule([&](const SimulatorOptions& options) {
      ResetPools();
      runner_.Launch("block_copy", params, {count, kPools, 1}, options);
      for (size_t i = 0; i < kPools; ++i) {
        ASSERT_EQ(runner_.Read(pools_[i], kBlocks * block_bytes), expected[i]);
      }
    });
    EXPECT_EQ(BytesOf(log, AccessLog::Kind::kGlobalStore), count * kPools * block_bytes);
    if (block_bytes % 32 == 0) ExpectWholeSectors(log);
  }
}

TEST_F(BlockCopyTest, SwapsOutAndIn) {
  constexpr int kSwapped = 4;
  for (const int64_t block_bytes : kBlockBytes) {
    SCOPED_TRACE(block_bytes);
    MakePools(block_bytes);
    std::vector<int32_t> blocks = ShuffledBlocks();
    const std::vector<int32_t> out(blocks.begin(), blocks.begin() + kSwapped);
    const std::vector<int32_t> in(blocks.begin() + kSwapped, blocks.begin() + 2 * kSwapped);
    const int64_t staging_bytes = kSwapped * kPools * block_bytes;
    std::vector<uint8_t> staged(static_cast<size_t>(staging_bytes));
    auto expected = contents_;
    for (int32_t i = 0; i < kSwapped; ++i) {
      const auto at = static_cast<size_t>(i);
      for (size_t pool = 0; pool < kPools; ++pool) {
        CopyBlock(contents_[pool], out[at], staged, i * kPools + static_cast<int64_t>(pool),
                  block_bytes);
        CopyBlock(contents_[pool], out[at], expected[pool], in[at], block_bytes);
      }
    }
    const auto staging = runner_.Allocate<uint8_t>(staging_bytes, "staging");
    BlockSwapParams params{.blocks = runner_.Upload(out, "out"),
                           .pools = {table_.address},
                           .staging = staging,
                           .block_bytes = block_bytes,
                           .num_pools = kPools};
    BlockSwapParams params_in = params;
    params_in.blocks = runner_.Upload(in, "in");
    const AccessLog log = runner_.ForEachSchedule([&](const SimulatorOptions& options) {
      ResetPools();
      std::fill_n(staging.address, staging_bytes, 0);
      runner_.Launch("block_gather", params, {kSwapped, kPools, 1}, options);
      ASSERT_EQ(runner_.Read(staging, staging_bytes), staged);
      runner_.Launch("block_scatter", params_in, {kSwapped, kPools, 1}, options);
      for (size_t i = 0; i < kPools; ++i) {
        ASSERT_EQ(runner_.Read(pools_[i], kBlocks * block_bytes), expected[i]);
      }
    });
    EXPECT_EQ(BytesOf(log, AccessLog::Kind::kGlobalStore), 2 * staging_bytes);
    if (block_bytes % 32 == 0) ExpectWholeSectors(log);
  }
}

TEST_F(BlockCopyTest, BlocksPast32Bits) {
  constexpr int64_t kBytes = 4096;
  constexpr int32_t kFar = (1 << 20) + 3;  // 4 GiB and 12 KiB
  const auto pool = runner_.Allocate<uint8_t>((int64_t{kFar} + 1) * kBytes, "pool");
  const std::vector<uint8_t> block = RandomBytes(kBytes);
  std::copy(block.begin(), block.end(), pool.address + kBytes);
  const auto table = runner_.Upload(std::vector<uint8_t*>{pool.address}, "table");
  const BlockCopyParams copy{
      .moves = runner_.Upload(std::vector<BlockMove>{{.from = 1, .to = kFar}}, "moves"),
      .pools = {table.address},
      .block_bytes = kBytes};
  runner_.Launch("block_copy", copy, {1, 1, 1}, {});
  EXPECT_EQ(runner_.Read(pool + kFar * kBytes, kBytes), block);
  const auto staging = runner_.Allocate<uint8_t>(kBytes, "staging");
  const BlockSwapParams swap{.blocks = runner_.Upload(std::vector<int32_t>{kFar}, "blocks"),
                             .pools = {table.address},
                             .staging = staging,
                             .block_bytes = kBytes,
                             .num_pools = 1};
  runner_.Launch("block_gather", swap, {1, 1, 1}, {});
  EXPECT_EQ(runner_.Read(staging, kBytes), block);
  std::fill_n(pool.address + kFar * kBytes, kBytes, 0);
  runner_.Launch("block_scatter", swap, {1, 1, 1}, {});
  EXPECT_EQ(runner_.Read(pool + kFar * kBytes, kBytes), block);
}

}  // namespace
}  // namespace kvbench
