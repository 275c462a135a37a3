#include "kernels/float16.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cpu/kv_write.h"
#include "kernels/kv_layout.h"
#include "tests/kernels/targets_for_test.h"

namespace kvbench {
namespace {

// fp16 values by their definition.
double Fp16Value(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Float16Test, EveryFp16ConvertsExactlyAndBack) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float value = Fp16ToFloat(bits);
    if ((bits & 0x7fff) > 0x7c00) {
      ASSERT_TRUE(std::isnan(value));
      ASSERT_EQ(FloatToFp16(value), bits | 0x200);
      continue;
    }
    if ((bits & 0x7fff) == 0x7c00) {
      ASSERT_TRUE(std::isinf(value));
    } else {
      ASSERT_EQ(static_cast<double>(value), Fp16Value(bits)) << i;
    }
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0);
    ASSERT_EQ(FloatToFp16(value), bits) << i;
  }
}

TEST(Float16Test, Fp16RoundsToTheNearestAndTiesToEven) {
  for (uint32_t i = 0; i < 0x7bff; ++i) {  // every pair of neighbours, both signs
    const double low = Fp16Value(static_cast<uint16_t>(i));
    const double high = Fp16Value(static_cast<uint16_t>(i + 1));
    const float middle = static_cast<float>((low + high) / 2);  // exact: one bit more
    const auto even = static_cast<uint16_t>((i & 1) == 0 ? i : i + 1);
    ASSERT_EQ(FloatToFp16(middle), even) << i;
    ASSERT_EQ(FloatToFp16(-middle), even | 0x8000) << i;
    ASSERT_EQ(FloatToFp16(std::nextafter(middle, 1e9f)), i + 1) << i;
    ASSERT_EQ(FloatToFp16(std::nextafter(middle, -1.0f)), i) << i;
  }
  EXPECT_EQ(FloatToFp16(65519.996f), 0x7bff);
  EXPECT_EQ(FloatToFp16(65520.0f), 0x7c00);
  EXPECT_EQ(FloatToFp16(-1e30f), 0xfc00);
  EXPECT_EQ(FloatToFp16(std::numeric_limits<float>::denorm_min()), 0);
}

TEST(Float16Test, EveryBf16ConvertsExactlyAndBack) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float value = Bf16ToFloat(bits);
    const bool nan = (bits & 0x7fff) > 0x7f80;
    ASSERT_EQ(std::isnan(value), nan);
    ASSERT_EQ(FloatToBf16(value), nan ? bits | 0x40 : bits) << i;
  }
}

TEST(Float16Test, Bf16RoundsToTheNearestAndTiesToEven) {
  for (uint32_t i = 0; i < 0x7f7f; ++i) {
    const uint32_t middle = (i << 16) | 0x8000u;
    const auto even = static_cast<uint16_t>((i & 1) == 0 ? i : i + 1);
    ASSERT_EQ(FloatToBf16(std::bit_cast<float>(middle)), even);
    ASSERT_EQ(FloatToBf16(std::bit_cast<float>(middle + 1)), i + 1);
    ASSERT_EQ(FloatToBf16(std::bit_cast<float>(middle - 1)), i);
    ASSERT_EQ(FloatToBf16(std::bit_cast<float>(middle | 0x80000000u)), even | 0x8000);
  }
  EXPECT_EQ(FloatToBf16(std::numeric_limits<float>::max()), 0x7f80);
}

// The vector conversions, through the KV write: the same bits as the scalar ones for values at
// every rounding border.
TEST(Float16Test, VectorStoresGiveTheSameBits) {
  std::vector<float> values;
  for (uint32_t i = 0; i < 0x10000; ++i) {
    for (const uint32_t low :
         {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xf000u}) {
      values.push_back(std::bit_cast<float>((i << 16) | low));
    }
  }
  ASSERT_EQ(values.size() % 64, 0u);
  const auto rows = static_cast<int32_t>(values.size() / 64);
  for (const int64_t target : RunnableTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const ScopedTarget scoped(target);
    ThreadPool pool(1);
    for (const KvType type : {KvType::kFp16, KvType::kBf16}) {
      std::vector<uint16_t> k(values.size()), v(values.size());
      KvWriteCall call;
      call.kv_type = type;
      call.num_kv_heads = 1;
      call.head_dim = 64;
      call.k = call.v = values.data();
      call.row_stride = 64;
      call.k_pool = k.data();
      call.v_pool = v.data();
      call.layout = ContiguousLayout(1, 64);
      AttentionSequence sequence;
      sequence.num_queries = sequence.context = rows;
      call.sequences = {&sequence, 1};
      WriteKv(pool, call);
      ASSERT_EQ(k, v);
      for (size_t i = 0; i < values.size(); ++i) {
        const uint16_t expected =
            type == KvType::kFp16 ? FloatToFp16(values[i]) : FloatToBf16(values[i]);
        ASSERT_EQ(k[i], expected) << std::bit_cast<uint32_t>(values[i]);
      }
    }
  }
}

}  // namespace
}  // namespace kvbench
