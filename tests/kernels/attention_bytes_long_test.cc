// The byte model behind every "KV bytes/s": what AttentionKvBytes says is what a kernel body asks
// for that walks a plan's items through an accessor.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "fmt/format.h"
#include "kernels/attention.h"
#include "kernels/cpu/attention_item.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/kv_accessor.h"
#include "kernels/kv_layout.h"
#include "kernels/reference/attention.h"

namespace kvbench {
namespace {

/// Element offset of a row of K or V -> how often it is read.
using Reads = std::map<int64_t, int>;

/// An accessor that hands its tokens out one by one and counts each.
class CountingKv {
 public:
  CountingKv(const AttentionCall& call, const AttentionSequence& sequence, Reads& reads)
      : kv_(call.layout, sequence), num_kv_heads_(call.num_kv_heads), reads_(reads) {}

  int64_t head_stride() const { return kv_.head_stride(); }
  int64_t token_stride() const { return kv_.token_stride(); }
  KvRun RunAt(int32_t key) const {
    const KvRun run = kv_.RunAt(key);
    EXPECT_GE(run.tokens, 1);
    for (int32_t head = 0; head < num_kv_heads_; ++head) {
      ++reads_[run.offset + head * head_stride()];
    }
    return {run.offset, 1};
  }

 private:
  KvAccessor kv_;
  int32_t num_kv_heads_;
  Reads& reads_;
};

/// What the kernels do with an item, without the arithmetic: tile after tile of its keys is listed
/// once and read in all KV heads.
void ReadItem(const AttentionCall& call, const AttentionItem& item, int32_t tile, Reads& reads) {
  const AttentionSequence& sequence = call.sequences[static_cast<size_t>(item.sequence)];
  const CountingKv counting(call, sequence, reads);
  const KvAccessor plain(call.layout, sequence);
  KeyList one_by_one{};
  KeyList in_runs{};
  for (int32_t begin = item.first_key; begin < item.end_key; begin += tile) {
    const int32_t count = std::min(tile, item.end_key - begin);
    one_by_one.Fill(counting, begin, count, call.head_dim);
    in_runs.Fill(plain, begin, count, call.head_dim);
    ASSERT_TRUE(std::ranges::equal(one_by_one.offsets, in_runs.offsets));
    for (int32_t i = 0; i < count; ++i) {
      ASSERT_EQ(in_runs.scale_rows[i], in_runs.offsets[i] / call.head_dim);
    }
  }
}

Reads ReadPlan(const AttentionCall& call, const AttentionPlan& plan, int32_t tile) {
  Reads reads;
  for (int thread = 0; thread < plan.num_threads(); ++thread) {
    for (const AttentionItem& item : plan.items(thread)) {
      ReadItem(call, item, tile, reads);
    }
  }
  return reads;
}

/// Bytes of K and V, each row `head_dim` elements of both and of int8 a scale of 4 bytes.
int64_t Bytes(const AttentionCall& call, const Reads& reads) {
  int64_t rows = 0;
  for (const auto& [offset, times] : reads) {
    rows += times;
  }
  const int64_t scale = call.kv_type == KvType::kInt8 ? 4 : 0;
  return rows * 2 * (call.head_dim * KvTypeBytes(call.kv_type) + scale);
}

/// A call on random sequences that has no memory behind it: only where it would read is asked.
struct RandomCall {
  RandomCall(std::mt19937& random, bool decodes_only) {
    const auto any = [&](int32_t low, int32_t high) {
      return low + static_cast<int32_t>(random() % static_cast<uint32_t>(high - low + 1));
    };
    constexpr int32_t kHeadDims[] = {64, 80, 96, 128, 256};
    constexpr KvType kTypes[] = {KvType::kFp16, KvType::kBf16, KvType::kFp32, KvType::kInt8};
    const int32_t group = 1 << any(0, 4);
    const int32_t block_size = random() % 3 == 0 ? 0 : 1 << any(0, 8);
    call.kv_type = kTypes[random() % std::size(kTypes)];
    call.num_kv_heads = any(1, 8);
    call.num_heads = call.num_kv_heads * group;
    call.head_dim = kHeadDims[random() % std::size(kHeadDims)];
    call.layout = block_size == 0 ? ContiguousLayout(call.num_kv_heads, call.head_dim)
                                  : PagedLayout(block_size, call.num_kv_heads, call.head_dim);
    const int count = any(1, 6);
    tables.resize(static_cast<size_t>(count));
    std::vector<int32_t> free(6 * 1500);
    std::iota(free.begin(), free.end(), 0);
    std::shuffle(free.begin(), free.end(), random);
    const HeadStride stride = random() % 2 == 0 ? HeadStride::kPadded : HeadStride::kUnpadded;
    int64_t slots = 0;
    for (std::vector<int32_t>& table : tables) {
      AttentionSequence sequence;
      sequence.context = any(1, 1500);
      const uint32_t kind = random() % 4;
      sequence.num_queries = kind == 0                  ? 0
                             : kind < 3 || decodes_only ? 1
                                                        : any(1, sequence.context);
      if (block_size == 0) {
        const int64_t chunk =
            (sequence.context + kContiguousUnit - 1) / kContiguousUnit * int64_t{kContiguousUnit};
        const ContiguousPlacement place =
            PlaceContiguous(slots, chunk, call.num_kv_heads, call.head_dim, stride);
        sequence.base = place.base;
        sequence.head_stride = place.head_stride;
        slots += chunk;
      } else {
        for (int32_t i = 0; i * block_size < sequence.context; ++i) {
          table.push_back(free.back());
          free.pop_back();
        }
        sequence.blocks = table.data();
      }
      sequences.push_back(sequence);
    }
    call.sequences = sequences;
    plan.Build(sequences, {call.num_heads, call.num_kv_heads, any(1, 9)});
    text = fmt::format("block {}, {} KV heads, group {}, dim {}, type {}, {} sequences, {} splits",
                       block_size, call.num_kv_heads, group, call.head_dim,
                       static_cast<int>(call.kv_type), count, plan.splits().size());
  }

  AttentionCall call;
  AttentionPlan plan;
  std::vector<AttentionSequence> sequences;
  std::vector<std::vector<int32_t>> tables;
  std::string text;
};

TEST(AttentionBytesTest, DecodesReadEveryKeyOfEveryKvHeadOnceWhateverThePlan) {
  std::mt19937 random(3);
  size_t splits = 0;
  for (int repeat = 0; repeat < 200; ++repeat) {
    const RandomCall random_call(random, true);
    const AttentionCall& call = random_call.call;
    SCOPED_TRACE(random_call.text);
    const Reads reads = ReadPlan(call, random_call.plan, kKeyTile);
    Reads expected;
    for (const AttentionSequence& sequence : call.sequences) {
      for (int32_t key = 0; sequence.num_queries > 0 && key < sequence.context; ++key) {
        for (int32_t head = 0; head < call.num_kv_heads; ++head) {
          expected[KvElementOffset(call.layout, sequence, head, key)] = 1;
        }
      }
    }
    ASSERT_EQ(reads, expected);
    ASSERT_EQ(Bytes(call, reads), AttentionKvBytes(call));
    splits += random_call.plan.splits().size();
  }
  EXPECT_GT(splits, 100U);
}

TEST(AttentionBytesTest, PromptsReadTheirKeysOnceForEachTileOfQueries) {
  std::mt19937 random(4);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const RandomCall random_call(random, false);
    const AttentionCall& call = random_call.call;
    SCOPED_TRACE(random_call.text);
    const Reads reads = ReadPlan(call, random_call.plan, ConvertedTile(call.head_dim));
    // Of a prompt as many queries go together as rows fit into an item; together they see the keys
    // up to the last one's own.
    const int32_t tile =
        std::max(1, AttentionPlan::kMaxQueryRows / (call.num_heads / call.num_kv_heads));
    Reads expected;
    for (const AttentionSequence& sequence : call.sequences) {
      const int32_t before = sequence.context - sequence.num_queries;
      for (int32_t first = 0; first < sequence.num_queries; first += tile) {
        const int32_t end = before + std::min(first + tile, sequence.num_queries);
        for (int32_t key = 0; key < end; ++key) {
          for (int32_t head = 0; head < call.num_kv_heads; ++head) {
            ++expected[KvElementOffset(call.layout, sequence, head, key)];
          }
        }
      }
    }
    ASSERT_EQ(reads, expected);
    // The model counts a prompt's context once: what must be read at least.
    ASSERT_GE(Bytes(call, reads), AttentionKvBytes(call));
  }
}

TEST(AttentionBytesTest, CountsByHand) {
  AttentionSequence sequences[3];
  sequences[0] = {.num_queries = 1, .context = 100};
  sequences[1] = {.num_queries = 0, .context = 1000};  // not in this step
  sequences[2] = {.num_queries = 20, .context = 30};
  AttentionCall call;
  call.num_heads = 32;
  call.num_kv_heads = 4;
  call.head_dim = 80;
  call.sequences = sequences;
  call.kv_type = KvType::kBf16;
  EXPECT_EQ(AttentionKvBytes(call), 130 * 2 * 4 * 80 * 2);
  call.kv_type = KvType::kFp32;
  EXPECT_EQ(AttentionKvBytes(call), 130 * 2 * 4 * 80 * 4);
  call.kv_type = KvType::kInt8;
  EXPECT_EQ(AttentionKvBytes(call), 130 * 2 * 4 * (80 + 4));
}

}  // namespace
}  // namespace kvbench
