#include "bench/gpu/decode_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace kvbench::gpu {

namespace {

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

constexpr int32_t kBlockSizes[] = {0, 16, 1, 64};

struct Work {
  int32_t context;
  int32_t batch;
};
// MHA has 32 MiB, 1, 4, 2 and 32 GiB of KV in the first five, MQA a thirty-second of that.
constexpr Work kFirstWork[] = {{2048, 1}, {2048, 32}, {8192, 32}, {512, 256}, {32768, 64}};
constexpr Work kMoreWork[] = {{512, 1}, {512, 32}, {2048, 256}, {8192, 1}, {32768, 1}};
constexpr Work kSmallWork[] = {{16, 1}, {64, 2}};

struct Heads {
  const char* attention;
  int32_t num_heads;
  int32_t num_kv_heads;
};
constexpr Heads kHeads[] = {{"MHA", 32, 32}, {"GQA-4", 32, 8}, {"GQA-8", 32, 4}, {"MQA", 32, 1}};
constexpr Heads kSmallHeads[] = {{"MHA", 4, 4}, {"GQA-4", 4, 1}};

DecodeCell Cell(const Heads& heads, int32_t block_size, const Work& work) {
  return {.attention = heads.attention,
          .num_heads = heads.num_heads,
          .num_kv_heads = heads.num_kv_heads,
          .block_size = block_size,
          .context = work.context,
          .batch = work.batch};
}

}  // namespace

std::string DecodeCell::LayoutName() const {
  const std::string layout = block_size == 0 ? "contiguous" : fmt::format("paged-{}", block_size);
  return vllm_v1 ? "vllm_v1 " + layout : layout;
}

std::string DecodeCell::Name() const {
  return fmt::format("{} {} {} x {}", attention, LayoutName(), context, batch);
}

int64_t DecodeCell::PoolBytes() const {
  const int64_t element = KvTypeBytes(KvType::kFp16);
  if (block_size == 0) {
    return element * ContiguousPoolElements(batch * RoundUp(context, kContiguousUnit), num_kv_heads,
                                            head_dim);
  }
  return element * PagedPoolElements(PagedLayout(block_size, num_kv_heads, head_dim),
                                     batch * (RoundUp(context, block_size) / block_size));
}

int64_t DecodeCell::KvBytes() const {
  return 2 * int64_t{batch} * context * num_kv_heads * KvRowBytes(KvType::kFp16, head_dim);
}

PlacedCell::PlacedCell(const DecodeCell& cell, std::mt19937_64& random)
    : layout_(cell.block_size == 0
                  ? ContiguousLayout(cell.num_kv_heads, cell.head_dim)
                  : PagedLayout(cell.block_size, cell.num_kv_heads, cell.head_dim)) {
  const int64_t chunk = RoundUp(cell.context, kContiguousUnit);
  const int64_t blocks_each =
      cell.block_size == 0 ? 0 : RoundUp(cell.context, cell.block_size) / cell.block_size;
  blocks_.resize(static_cast<size_t>(cell.batch * blocks_each));
  std::iota(blocks_.begin(), blocks_.end(), 0);
  std::shuffle(blocks_.begin(), blocks_.end(), random);
  for (int32_t i = 0; i < cell.batch; ++i) {
    AttentionSequence sequence{.first_query = i, .num_queries = 1, .context = cell.context};
    if (cell.block_size == 0) {
      const ContiguousPlacement place =
          PlaceContiguous(i * chunk, chunk, cell.num_kv_heads, cell.head_dim);
      sequence.base = place.base;
      sequence.head_stride = place.head_stride;
    } else {
      sequence.blocks = blocks_.data() + i * blocks_each;
    }
    sequences_.push_back(sequence);
  }
}

std::vector<DecodeCell> DecodeGrid(GridPart part) {
  std::vector<DecodeCell> cells;
  if (part == GridPart::kSmall) {
    for (const Work& work : kSmallWork) {
      for (const Heads& heads : kSmallHeads) {
        for (const int32_t block_size : {0, 16, 1}) {
          cells.push_back(Cell(heads, block_size, work));
        }
      }
    }
    return cells;
  }
  // The first: all heads, contiguous and paged-16, five pairs. Layouts of the same work lie side by
  // side, so that what a machine does meanwhile touches all of them.
  for (const bool first : {true, false}) {
    if ((part == GridPart::kFirst && !first) || (part == GridPart::kRest && first)) {
      continue;
    }
    for (const Work& work : kFirstWork) {
      for (const Heads& heads : kHeads) {
        for (const int32_t block_size : kBlockSizes) {
          if ((block_size == 0 || block_size == 16) == first) {
            cells.push_back(Cell(heads, block_size, work));
          }
        }
      }
    }
    for (const Work& work : kMoreWork) {
      for (const Heads& heads : kHeads) {
        for (const int32_t block_size : kBlockSizes) {
          if (!first) {
            cells.push_back(Cell(heads, block_size, work));
          }
        }
      }
    }
  }
  return cells;
}

std::vector<DecodeCell> Fig18aGrid(bool small) {
  const std::vector<int32_t> contexts =
      small ? std::vector<int32_t>{16, 64} : std::vector<int32_t>{64, 128, 256, 512, 1024, 2048};
  const Heads heads = small ? Heads{"MHA", 2, 2} : Heads{"MHA", 40, 40};
  std::vector<DecodeCell> cells;
  for (const int32_t batch : small ? std::vector<int32_t>{2} : std::vector<int32_t>{8, 32}) {
    for (const int32_t context : contexts) {
      for (const bool vllm_v1 : {true, false}) {
        for (const int32_t block_size : {0, 16}) {
          cells.push_back(Cell(heads, block_size, {context, batch}));
          cells.back().vllm_v1 = vllm_v1;
        }
      }
    }
  }
  return cells;
}

}  // namespace kvbench::gpu
