#include "results/compare/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace kvbench {
namespace {

// Expected values are those of numpy.percentile (method "linear"), numpy.mean and numpy.std.

std::vector<double> OneTo(int n) {
  std::vector<double> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Statistics, NothingOfNothing) {
  EXPECT_FALSE(Mean({}));
  EXPECT_FALSE(PopulationStd({}));
  EXPECT_FALSE(Percentile({}, 50));
  EXPECT_FALSE(Median({}));
  const LatencyStats stats = Summarize({});
  for (const auto& value : {stats["mean"], stats["median"], stats["std"], stats["p50"],
                            stats["p90"], stats["p95"], stats["p99"], stats["max"]}) {
    EXPECT_FALSE(value);
  }
}

TEST(Statistics, OneValueIsEveryPercentile) {
  const LatencyStats stats = Summarize({7.25});
  for (const auto& value : {stats["mean"], stats["median"], stats["p50"], stats["p90"],
                            stats["p95"], stats["p99"], stats["max"]}) {
    EXPECT_EQ(value, 7.25);
  }
  EXPECT_EQ(stats["std"], 0);
}

TEST(Statistics, TwoValues) {
  const LatencyStats stats = Summarize({20, 10});
  EXPECT_EQ(stats["mean"], 15);
  EXPECT_EQ(stats["std"], 5);
  EXPECT_EQ(stats["median"], 15);
  EXPECT_DOUBLE_EQ(*stats["p90"], 19);
  EXPECT_DOUBLE_EQ(*stats["p95"], 19.5);
  EXPECT_DOUBLE_EQ(*stats["p99"], 19.9);
  EXPECT_EQ(stats["max"], 20);
}

TEST(Statistics, ThreeValues) {
  const LatencyStats stats = Summarize({3, 1, 2});
  EXPECT_EQ(stats["mean"], 2);
  EXPECT_DOUBLE_EQ(*stats["std"], 0.816496580927726);
  EXPECT_EQ(stats["median"], 2);
  EXPECT_DOUBLE_EQ(*stats["p90"], 2.8);
  EXPECT_DOUBLE_EQ(*stats["p95"], 2.9);
  EXPECT_DOUBLE_EQ(*stats["p99"], 2.98);
  EXPECT_EQ(stats["max"], 3);
}

TEST(Statistics, HundredValues) {
  const LatencyStats stats = Summarize(OneTo(100));
  EXPECT_EQ(stats["mean"], 50.5);
  EXPECT_DOUBLE_EQ(*stats["std"], 28.86607004772212);
  EXPECT_EQ(stats["median"], 50.5);
  EXPECT_DOUBLE_EQ(*stats["p90"], 90.1);
  EXPECT_DOUBLE_EQ(*stats["p95"], 95.05);
  EXPECT_DOUBLE_EQ(*stats["p99"], 99.01);
  EXPECT_EQ(stats["max"], 100);
}

TEST(Statistics, WholePositionsAreOrderStatisticsExactly) {
  // Order statistics that interpolating would not give back to the bit.
  std::vector<double> values(101);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sqrt(1.0 + static_cast<double>(i));
  }
  for (int percent = 0; percent <= 100; ++percent) {
    EXPECT_EQ(Percentile(values, percent), values[static_cast<size_t>(percent)]) << percent;
  }
  EXPECT_EQ(Percentile(std::span(values).first(11), 90), values[9]);
  EXPECT_EQ(Percentile(std::span(values).first(21), 95), values[19]);
}

TEST(Statistics, PercentilesNeverDescend) {
  const std::vector<double> values = {0.1, 0.1, 0.1, 0.3, 0.3};
  double before = 0;
  for (double percent = 0; percent <= 100; percent += 0.25) {
    const double value = *Percentile(values, percent);
    EXPECT_LE(before, value);
    before = value;
  }
}

TEST(Statistics, TheOrderOfTheValuesDoesNotMatter) {
  std::mt19937 generator(1);
  std::vector<double> values(1000);
  for (double& value : values) {
    value = std::exp(static_cast<double>(generator() % 4000) / 100 - 20);
  }
  const LatencyStats stats = Summarize(std::vector<double>(values));
  std::shuffle(values.begin(), values.end(), generator);
  const LatencyStats shuffled = Summarize(std::move(values));
  EXPECT_EQ(stats["mean"], shuffled["mean"]);
  EXPECT_EQ(stats["std"], shuffled["std"]);
  EXPECT_EQ(stats["p99"], shuffled["p99"]);
}

TEST(Statistics, TheMeanOfEqualValuesIsThatValue) {
  for (const int n : {3, 7, 10, 1000}) {
    const LatencyStats stats = Summarize(std::vector<double>(static_cast<size_t>(n), 0.1));
    EXPECT_EQ(stats["mean"], 0.1);
    EXPECT_NEAR(*stats["std"], 0, 1e-16);
  }
}

TEST(Statistics, SumsWithoutLosingSmallValues) {
  EXPECT_EQ(Mean(std::vector<double>{1e16, 1, 1, -1e16}), 0.5);
}

TEST(Statistics, LeavesOutWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const LatencyStats stats = Summarize({nan, 1, infinity, 3, -infinity});
  EXPECT_EQ(stats["mean"], 2);
  EXPECT_EQ(stats["max"], 3);
  EXPECT_FALSE(Summarize({nan, nan})["mean"]);
}

}  // namespace
}  // namespace kvbench
