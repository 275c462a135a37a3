// Layouts, KV write, block copy and buffers: everything that moves KV bytes besides attention.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/block_copy.h"
#include "kernels/cpu/buffer.h"
#include "kernels/cpu/kv_accessor.h"
#include "kernels/cpu/kv_write.h"
#include "kernels/cpu/read_roof.h"
#include "kernels/float16.h"
#include "kernels/kv_layout.h"
#include "kernels/reference/attention.h"
#include "tests/kernels/targets_for_test.h"

namespace kvbench {
namespace {

TEST(KvLayoutTest, PagedIsBlockHeadTokenDimension) {
  const KvLayout layout = PagedLayout(16, 4, 64);
  EXPECT_EQ(layout.token_stride, 64);
  EXPECT_EQ(layout.head_stride, 16 * 64);
  EXPECT_EQ(layout.block_stride, 4 * 16 * 64);
  EXPECT_EQ(PagedPoolElements(layout, 10), 10 * 16 * 4 * 64);
}

TEST(KvLayoutTest, ContiguousChunksTileThePoolWithoutOverlap) {
  constexpr int32_t kHeads = 3;
  constexpr int32_t kDim = 64;
  constexpr int64_t kSlots = 512;
  for (const HeadStride stride : {HeadStride::kPadded, HeadStride::kUnpadded}) {
    for (const int64_t chunk : {16, 48, 128, 512}) {
      std::set<int64_t> used;
      for (int64_t first = 0; first + chunk <= kSlots; first += chunk) {
        const auto place = PlaceContiguous(first, chunk, kHeads, kDim, stride);
        EXPECT_EQ(place.head_stride,
                  (chunk + (stride == HeadStride::kPadded ? chunk / 16 : 0)) * kDim);
        for (int64_t head = 0; head < kHeads; ++head) {
          for (int64_t token = 0; token < chunk; ++token) {
            const int64_t at = place.base + head * place.head_stride + token * kDim;
            ASSERT_TRUE(used.insert(at).second);
            ASSERT_LE(at + kDim, ContiguousPoolElements(kSlots, kHeads, kDim, stride));
          }
        }
      }
    }
  }
}

TEST(KvAccessorTest, OffsetsBeyond32Bits) {
  // 3 million blocks of 16 tokens of 8 heads of 128: 49 G elements.
  const KvLayout layout = PagedLayout(16, 8, 128);
  const std::vector<int32_t> blocks = {3'000'000, 2'999'999};
  AttentionSequence sequence;
  sequence.context = 20;
  sequence.blocks = blocks.data();
  const KvAccessor kv(layout, sequence);
  const KvRun run = kv.RunAt(18);
  EXPECT_EQ(run.offset, int64_t{2'999'999} * 16 * 8 * 128 + 2 * 128);
  EXPECT_EQ(run.tokens, 14);
  EXPECT_EQ(KvElementOffset(layout, sequence, 5, 18), run.offset + 5 * 16 * 128);
}

TEST(KvAccessorTest, BothLayoutsAreListedAsTheReferenceReads) {
  const std::vector<int32_t> blocks = {7, 2, 9, 4, 0};
  AttentionSequence sequence;
  sequence.context = 37;
  sequence.blocks = blocks.data();
  sequence.base = 1000;
  sequence.head_stride = 49 * 64;
  const KvLayout paged = PagedLayout(8, 2, 64);
  const KvLayout contiguous = ContiguousLayout(2, 64);
  KeyList list;
  for (int32_t first = 0; first < 37; ++first) {
    list.Fill(KvAccessor(paged, sequence), first, 37 - first, 0);
    for (int32_t key = first; key < 37; ++key) {
      ASSERT_EQ(list.offsets[key - first], KvElementOffset(paged, sequence, 0, key));
    }
    list.Fill(KvAccessor(contiguous, sequence), first, 37 - first, 0);
    for (int32_t key = first; key < 37; ++key) {
      ASSERT_EQ(list.offsets[key - first], KvElementOffset(contiguous, sequence, 0, key));
    }
  }
}

// Writes chunks into a pool and checks every element of it, written or not.
void ExpectWrites(ThreadPool& pool, KvType type, bool paged, int32_t dim, std::mt19937& random) {
  constexpr int32_t kHeads = 2;
  constexpr int32_t kBlock = 8;
  const std::vector<int32_t> first_blocks = {5, 1, 6};
  const std::vector<int32_t> second_blocks = {3, 0};
  std::vector<AttentionSequence> sequences(3);
  sequences[0] = {
      .first_query = 2, .num_queries = 11, .context = 20, .blocks = first_blocks.data()};
  sequences[1] = {
      .first_query = 0, .num_queries = 1, .context = 16, .blocks = second_blocks.data()};
  sequences[2] = {};  // nothing this step
  KvWriteCall call;
  call.kv_type = type;
  call.num_kv_heads = kHeads;
  call.head_dim = dim;
  call.layout = PagedLayout(kBlock, kHeads, dim);
  int64_t elements = PagedPoolElements(call.layout, 7);
  if (!paged) {
    call.layout = ContiguousLayout(kHeads, dim);
    elements = ContiguousPoolElements(48, kHeads, dim);
    for (int i = 0; i < 2; ++i) {
      const auto place = PlaceContiguous(i == 0 ? 16 : 0, i == 0 ? 32 : 16, kHeads, dim);
      sequences[static_cast<size_t>(i)].base = place.base;
      sequences[static_cast<size_t>(i)].head_stride = place.head_stride;
    }
  }
  call.sequences = sequences;
  call.row_stride = 2 * kHeads * dim + 3;
  std::normal_distribution<float> normal;
  std::vector<float> rows(static_cast<size_t>(13 * call.row_stride));
  for (float& value : rows) value = normal(random);
  call.k = rows.data();
  call.v = rows.data() + kHeads * dim;
  const auto bytes = static_cast<size_t>(elements * KvTypeBytes(type));
  std::vector<uint8_t> k(bytes, 0xff), v(bytes, 0xff);
  call.k_pool = k.data();
  call.v_pool = v.data();
  constexpr float kUntouched = -1;
  std::vector<float> k_scales(static_cast<size_t>(elements / dim), kUntouched);
  std::vector<float> v_scales = k_scales;
  std::vector<float> expected_k_scales = k_scales;
  std::vector<float> expected_v_scales = k_scales;
  call.k_scales = k_scales.data();
  call.v_scales = v_scales.data();
  std::fill_n(rows.begin() + call.row_stride, dim, 0.0f);  // a row of zeros has scale 0
  WriteKv(pool, call);

  std::vector<uint8_t> expected_k(bytes, 0xff), expected_v(bytes, 0xff);
  const auto put = [&](std::vector<uint8_t>& bytes_of, int64_t at, float value) {
    if (type == KvType::kFp32) {
      reinterpret_cast<float*>(bytes_of.data())[at] = value;
    } else {
      reinterpret_cast<uint16_t*>(bytes_of.data())[at] =
          type == KvType::kFp16 ? FloatToFp16(value) : FloatToBf16(value);
    }
  };
  for (const AttentionSequence& sequence : sequences) {
    for (int32_t query = 0; query < sequence.num_queries; ++query) {
      for (int32_t head = 0; head < kHeads; ++head) {
        const int64_t at = KvElementOffset(call.layout, sequence, head,
                                           sequence.context - sequence.num_queries + query);
        const int64_t from = (sequence.first_query + query) * call.row_stride + head * dim;
        if (type == KvType::kInt8) {
          const auto quantize = [&](const float* row, std::vector<uint8_t>& to, float& scale) {
            float largest = 0;
            for (int32_t i = 0; i < dim; ++i) largest = std::max(largest, std::abs(row[i]));
            const float factor = largest > 0 ? 127.0f / largest : 0.0f;
            for (int32_t i = 0; i < dim; ++i) {
              to[static_cast<size_t>(at + i)] =
                  static_cast<uint8_t>(static_cast<int8_t>(std::nearbyint(row[i] * factor)));
            }
            scale = largest / 127.0f;
          };
          const auto scale = static_cast<size_t>(at / dim);
          quantize(call.k + from, expected_k, expected_k_scales[scale]);
          quantize(call.v + from, expected_v, expected_v_scales[scale]);
          continue;
        }
        for (int32_t i = 0; i < dim; ++i) {
          put(expected_k, at + i, call.k[from + i]);
          put(expected_v, at + i, call.v[from + i]);
        }
      }
    }
  }
  EXPECT_EQ(k, expected_k);
  EXPECT_EQ(v, expected_v);
  EXPECT_EQ(k_scales, expected_k_scales);
  EXPECT_EQ(v_scales, expected_v_scales);
}

TEST(WriteKvTest, WritesTheNewTokensAndNothingElse) {
  std::mt19937 random(4);
  for (const int64_t target : RunnableTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const ScopedTarget scoped(target);
    for (const int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      for (const KvType type : {KvType::kFp16, KvType::kBf16, KvType::kFp32, KvType::kInt8}) {
        for (const bool paged : {false, true}) {
          for (const int32_t dim : {64, 80}) ExpectWrites(pool, type, paged, dim, random);
        }
      }
    }
  }
}

TEST(CopyBlocksTest, CopiesWholeBlocksInEveryPool) {
  constexpr int64_t kBlockBytes = 48;
  constexpr int32_t kBlocks = 9;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::vector<std::vector<uint8_t>> pools(4, std::vector<uint8_t>(kBlocks * kBlockBytes));
    std::vector<void*> pointers;
    std::mt19937 random(5);
    for (auto& bytes : pools) {
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
      pointers.push_back(bytes.data());
    }
    auto expected = pools;
    const std::vector<BlockPair> pairs = {{0, 8}, {0, 3}, {5, 1}};
    for (auto& bytes : expected) {
      for (const BlockPair& pair : pairs) {
        std::memcpy(&bytes[static_cast<size_t>(pair.target * kBlockBytes)],
                    &bytes[static_cast<size_t>(pair.source * kBlockBytes)], kBlockBytes);
      }
    }
    CopyBlocks(pool, pointers, kBlockBytes, pairs);
    EXPECT_EQ(pools, expected);
    CopyBlocks(pool, pointers, kBlockBytes, {});
    EXPECT_EQ(pools, expected);
  }
}

TEST(BufferTest, AlignedZeroedMovableAndTouchedWithoutChange) {
  for (const size_t bytes : {size_t{1}, size_t{100}, Buffer::kHugePage - 1, Buffer::kHugePage,
                             Buffer::kHugePage + 1, 3 * Buffer::kHugePage + 4096}) {
    Buffer buffer(bytes);
    const size_t alignment = bytes >= Buffer::kHugePage ? Buffer::kHugePage : 64;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.as<char>()) % alignment, 0u);
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(buffer.as<char>()[0], 0);
    EXPECT_EQ(buffer.as<char>()[bytes - 1], 0);
    buffer.as<char>()[bytes - 1] = 7;
    buffer.Touch();
    Buffer moved = std::move(buffer);
    EXPECT_EQ(moved.as<char>()[bytes - 1], 7);
    moved = Buffer(10);
    EXPECT_EQ(moved.size(), 10u);
  }
  EXPECT_EQ(Buffer().size(), 0u);
}

TEST(BufferTest, TooMuchIsBadAlloc) {
  EXPECT_THROW(Buffer(std::numeric_limits<size_t>::max()), std::bad_alloc);
  EXPECT_THROW(Buffer(size_t{1} << 60), std::bad_alloc);
}

TEST(ReadRoofTest, MeasuresSomething) {
  ReadRoof roof(size_t{8} << 20);
  ThreadPool pool(2);
  EXPECT_GT(roof.Measure(pool), 0.0);
}

}  // namespace
}  // namespace kvbench
