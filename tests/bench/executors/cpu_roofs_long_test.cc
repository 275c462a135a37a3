#include "bench/executors/cpu_roofs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/bench/executors/small_model.h"

namespace kvbench {
namespace {

/// Measures as shortly as can be: what comes out is only as good as that.
CpuRoofOptions Short() { return {.seconds = 0, .working_set_bytes = int64_t{4} << 20}; }

void ExpectPositive(double value, const char* what) {
  EXPECT_TRUE(std::isfinite(value)) << what;
  EXPECT_GT(value, 0) << what;
}

void ExpectSane(const CpuRoofs& roofs) {
  ExpectPositive(roofs.read_bytes_per_s, "read");
  EXPECT_GE(roofs.read_spread, 0);
  EXPECT_TRUE(std::isfinite(roofs.read_spread));
  ExpectPositive(roofs.kv_write_bytes_per_s, "write");
  ExpectPositive(roofs.dispatch_s, "dispatch");
  for (const auto* table : {&roofs.dense, &roofs.elementwise, &roofs.prefill}) {
    ASSERT_GE(table->size(), 2U);
    for (size_t i = 0; i < table->size(); ++i) {
      ExpectPositive((*table)[i].seconds, "table");
      if (i > 0) {
        EXPECT_GT((*table)[i].rows, (*table)[i - 1].rows);
      }
    }
  }
  for (const DecodeRoof& decode : roofs.decode) {
    ExpectPositive(decode.seconds_per_key, "key");
    EXPECT_TRUE(std::isfinite(decode.seconds_per_head));
    EXPECT_GE(decode.seconds_per_head, 0);
  }
}

TEST(MeasureCpuRoofsTest, FiguresAreFiniteAndPositive) {
  for (const int threads : {1, 2}) {
    ThreadPool pool(threads);
    const CpuRoofs roofs = MeasureCpuRoofs(SmallModel(), Dtype::kFp16, pool, Short());
    EXPECT_EQ(roofs.threads, threads);
    ExpectSane(roofs);
    EXPECT_EQ(roofs.dense.front().rows, 1);
    EXPECT_EQ(roofs.dense.back().rows, 256);
    ASSERT_EQ(roofs.decode.size(), 2U);
    EXPECT_EQ(roofs.decode[0].block_size, 0);
    EXPECT_EQ(roofs.decode[1].block_size, 16);
  }
}

TEST(MeasureCpuRoofsTest, ManyShapesAndOptions) {
  ThreadPool pool(3);
  CpuRoofOptions options = Short();
  options.model_weights = true;
  options.block_sizes = {0, 1, 24, 700};
  ModelShape model = SmallModel();
  model.num_key_value_heads = 1;
  model.hidden_size = 72;
  const CpuRoofs mqa = MeasureCpuRoofs(model, Dtype::kFp32, pool, options);
  ExpectSane(mqa);
  EXPECT_EQ(mqa.decode.back().block_size, 700);

  model.num_attention_heads = 3;
  model.num_key_value_heads = 3;
  model.head_dim = 256;
  model.intermediate_size = 40'000;  // its matrices are cut
  ExpectSane(MeasureCpuRoofs(model, Dtype::kBf16, pool, Short()));
}

TEST(MeasureCpuRoofsTest, RefusesWhatTheExecutorRefuses) {
  ThreadPool pool(1);
  ModelShape model = SmallModel();
  EXPECT_THROW(MeasureCpuRoofs(model, Dtype::kFp8, pool, Short()), Error);
  model.head_dim = 48;
  EXPECT_THROW(MeasureCpuRoofs(model, Dtype::kFp16, pool, Short()), Error);
}

CpuRoofs Roofs(double factor) {
  CpuRoofs roofs;
  roofs.threads = 2;
  roofs.read_bytes_per_s = 10 * factor;
  roofs.read_spread = 0.01 * factor;
  roofs.dense = {{1, 2 * factor}, {8, 3 * factor}};
  roofs.elementwise = {{1, 4 * factor}, {8, 5 * factor}};
  roofs.decode = {{.block_size = 16, .seconds_per_key = factor, .seconds_per_head = 6 * factor}};
  roofs.prefill = {{16, 7 * factor}, {64, 8 * factor}};
  roofs.kv_write_bytes_per_s = 9 * factor;
  roofs.dispatch_s = 11 * factor;
  return roofs;
}

TEST(CombineTest, TakesTheMedianOfEveryFigure) {
  const std::vector<CpuRoofs> three = {Roofs(3), Roofs(1), Roofs(2)};
  const CpuRoofs combined = Combine(three);
  const CpuRoofs expected = Roofs(2);
  EXPECT_EQ(combined.threads, 2);
  EXPECT_EQ(combined.read_bytes_per_s, expected.read_bytes_per_s);
  EXPECT_EQ(combined.kv_write_bytes_per_s, expected.kv_write_bytes_per_s);
  EXPECT_EQ(combined.dispatch_s, expected.dispatch_s);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(combined.dense[i].rows, expected.dense[i].rows);
    EXPECT_EQ(combined.dense[i].seconds, expected.dense[i].seconds);
    EXPECT_EQ(combined.elementwise[i].seconds, expected.elementwise[i].seconds);
    EXPECT_EQ(combined.prefill[i].seconds, expected.prefill[i].seconds);
  }
  EXPECT_EQ(combined.decode[0].block_size, 16);
  EXPECT_EQ(combined.decode[0].seconds_per_key, expected.decode[0].seconds_per_key);
  EXPECT_EQ(combined.decode[0].seconds_per_head, expected.decode[0].seconds_per_head);
  EXPECT_EQ(combined.read_spread, 1.0);  // (30 - 10) / 20, more than any measurement's own
}

TEST(CombineTest, OneIsItselfAndTwoMeetInTheMiddle) {
  const std::vector<CpuRoofs> two = {Roofs(1), Roofs(2)};
  EXPECT_EQ(Combine(two).dense[1].seconds, 4.5);
  const CpuRoofs one = Combine(std::span(two).first(1));
  EXPECT_EQ(one.dense[1].seconds, 3);
  EXPECT_EQ(one.read_spread, 0.01);
}

TEST(SecondsAtTest, InterpolatesAndGoesOnInProportion) {
  const std::vector<RowRoof> table = {{1, 10}, {2, 10}, {4, 12}, {8, 20}};
  EXPECT_EQ(SecondsAt(table, 0), 0);
  EXPECT_EQ(SecondsAt(table, 0.5), 10);
  EXPECT_EQ(SecondsAt(table, 1), 10);
  EXPECT_EQ(SecondsAt(table, 2), 10);
  EXPECT_EQ(SecondsAt(table, 3), 11);
  EXPECT_EQ(SecondsAt(table, 5), 14);
  EXPECT_EQ(SecondsAt(table, 8), 20);
  EXPECT_EQ(SecondsAt(table, 16), 40);
}

TEST(SecondsPerVisibleKeyTest, InterpolatesTheCostOfARow) {
  const std::vector<RowRoof> prefill = {{16, 8}, {64, 4}};
  EXPECT_EQ(SecondsPerVisibleKey(prefill, 16), 8);
  EXPECT_EQ(SecondsPerVisibleKey(prefill, 64), 4);
  EXPECT_EQ(SecondsPerVisibleKey(prefill, 40), (128 + 256) / 2 / 40.0);
  EXPECT_EQ(SecondsPerVisibleKey(prefill, 8), 16);
  EXPECT_EQ(SecondsPerVisibleKey(prefill, 5000), 4);
}

}  // namespace
}  // namespace kvbench
