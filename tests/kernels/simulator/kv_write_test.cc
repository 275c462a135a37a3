#include "kernels/cuda/kv_write_params.h"
#include "kernels/kv_layout.h"
#include "kernels/reference/attention.h"
#include "tests/kernels/simulator/kernel_runner.h"

namespace kvbench {
namespace {

constexpr int32_t kContext = 150;  // slots that the rows are written to some of

/// Slots of different tokens of one sequence, and the elements of the pool that holds it.
struct Place {
  std::vector<KvSlot> slots;
  int64_t pool_elements = 0;
};
Place PlaceTokens(int32_t block_size, int32_t heads, int32_t head_dim, int64_t rows,
                  std::mt19937& random) {
  KvLayout layout = ContiguousLayout(heads, head_dim);
  AttentionSequence sequence{.context = kContext};
  std::vector<int32_t> blocks;
  Place place;
  if (block_size == 0) {
    const int64_t chunk = (kContext + kContiguousUnit - 1) / kContiguousUnit * kContiguousUnit;
    const ContiguousPlacement at = PlaceContiguous(2 * kContiguousUnit, chunk, heads, head_dim);
    sequence.base = at.base;
    sequence.head_stride = at.head_stride;
    place.pool_elements = ContiguousPoolElements(2 * kContiguousUnit + chunk, heads, head_dim);
  } else {
    layout = PagedLayout(block_size, heads, head_dim);
    const int32_t count = (kContext + block_size - 1) / block_size + 1;
    blocks.resize(static_cast<size_t>(count));
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<int32_t>(i);
    std::shuffle(blocks.begin(), blocks.end(), random);
    sequence.blocks = blocks.data();
    sequence.head_stride = layout.head_stride;
    place.pool_elements = PagedPoolElements(layout, static_cast<int64_t>(blocks.size()));
  }
  std::vector<int32_t> tokens(kContext);
  for (int32_t i = 0; i < kContext; ++i) tokens[static_cast<size_t>(i)] = i;
  std::shuffle(tokens.begin(), tokens.end(), random);
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    place.slots.push_back({.offset = KvElementOffset(layout, sequence, 0, tokens[row]),
                           .head_stride = sequence.head_stride});
  }
  return place;
}

struct Shape {
  int32_t heads;
  int32_t head_dim;
};

class KvWriteTest : public testing::Test {
 protected:
  void Check(const Shape& shape, int32_t block_size, const HalfType& type, int64_t rows) {
    const int64_t floats = int64_t{shape.heads} * shape.head_dim;
    const int64_t row_stride = 3 * floats + 8;  // K and V lie behind Q
    Place place = PlaceTokens(block_size, shape.heads, shape.head_dim, rows, random_);
    int64_t written = rows;
    for (const int64_t padding : {rows / 2, rows - 1}) {
      if (rows > 2) {
        place.slots[static_cast<size_t>(padding)].offset = -1;
        --written;
      }
    }
    const std::vector<float> qkv = NormalFloats(rows * row_stride, random_);
    std::vector<uint16_t> k(static_cast<size_t>(place.pool_elements), 0xffff);
    std::vector<uint16_t> v = k;
    for (int64_t row = 0; row < rows; ++row) {
      const KvSlot& slot = place.slots[static_cast<size_t>(row)];
      for (int64_t i = 0; i < floats && slot.offset >= 0; ++i) {
        const auto to = static_cast<size_t>(slot.offset + i / shape.head_dim * slot.head_stride +
                                            i % shape.head_dim);
        const auto from = static_cast<size_t>(row * row_stride + floats + i);
        k[to] = type.from_float(qkv[from]);
        v[to] = type.from_float(qkv[from + static_cast<size_t>(floats)]);
      }
    }

    KernelRunner runner;
    const auto rows_on_device = runner.Upload(qkv, "qkv");
    const auto k_pool = runner.Allocate<uint16_t>(place.pool_elements, "K");
    const auto v_pool = runner.Allocate<uint16_t>(place.pool_elements, "V");
    const KvWriteParams params{.k = rows_on_device + floats,
                               .v = rows_on_device + 2 * floats,
                               .row_stride = row_stride,
                               .k_pool = k_pool.address,
                               .v_pool = v_pool.address,
                               .slots = runner.Upload(place.slots, "slots"),
                               .num_kv_heads = shape.heads,
                               .head_dim = shape.head_dim};
    const AccessLog log = runner.ForEachSchedule([&](const SimulatorOptions& options) {
      std::fill_n(k_pool.address, place.pool_elements, 0xffff);
      std::fill_n(v_pool.address, place.pool_elements, 0xffff);
      runner.Launch(std::string("kv_write/") + type.name, params, {static_cast<int>(rows), 1, 1},
                    options);
      ASSERT_EQ(runner.Read(k_pool, place.pool_elements), k);
      ASSERT_EQ(runner.Read(v_pool, place.pool_elements), v);
    });
    const int64_t bytes = written * shape.heads * KvRowBytes(KvType::kFp16, shape.head_dim);
    for (const Global<uint16_t> pool : {k_pool, v_pool}) {
      EXPECT_EQ(log.BytesIn(AccessLog::Kind::kGlobalStore, pool.address,
                            static_cast<size_t>(2 * place.pool_elements)),
                bytes);
    }
    EXPECT_EQ(BytesOf(log, AccessLog::Kind::kGlobalStore), 2 * bytes);
    EXPECT_EQ(log.BytesIn(AccessLog::Kind::kGlobalLoad, rows_on_device.address,
                          qkv.size() * sizeof(float)),
              written * 2 * floats * 4);
    // A head of 16-bit elements that is not a multiple of 32 bytes begins inside a sector.
    if (shape.head_dim % 16 == 0) {
      ExpectWholeSectors(log);
    }
  }

  std::mt19937 random_{7};
};

TEST_F(KvWriteTest, EveryLayout) {
  int count = 0;
  for (const Shape& shape : {Shape{1, 64}, {2, 128}, {3, 80}, {1, 256}, {5, 8}, {8, 64}}) {
    for (const int32_t block_size : {0, 1, 8, 16, 128}) {
      SCOPED_TRACE(testing::Message()
                   << shape.heads << " x " << shape.head_dim << " block " << block_size);
      ++count;
      Check(shape, block_size, kHalfTypes[count % 2], 1 + count % 5);
    }
  }
}

TEST_F(KvWriteTest, OffsetsPast32Bits) {
  constexpr int64_t kElements = (int64_t{1} << 32) + 4096;
  constexpr int64_t kStride = int64_t{1} << 31;
  KernelRunner runner;
  const std::vector<float> rows = NormalFloats(2 * 64, random_);
  const auto on_device = runner.Upload(rows, "rows");
  const auto pool = runner.Allocate<uint16_t>(kElements, "pool");
  const auto other = runner.Allocate<uint16_t>(kElements, "other pool");
  const KvWriteParams params{
      .k = on_device,
      .v = on_device,
      .row_stride = 128,
      .k_pool = pool.address,
      .v_pool = other.address,
      .slots = runner.Upload(std::vector<KvSlot>{{.offset = kStride + 64, .head_stride = kStride}},
                             "slots"),
      .num_kv_heads = 2,
      .head_dim = 64};
  runner.Launch("kv_write/fp16", params, {1, 1, 1}, {});
  for (const Global<uint16_t> written : {pool, other}) {
    for (int64_t i = 0; i < 128; ++i) {
      EXPECT_EQ(written.address[kStride + 64 + i / 64 * kStride + i % 64],
                FloatToFp16(rows[static_cast<size_t>(i)]));
    }
  }
}

}  // namespace
}  // namespace kvbench
