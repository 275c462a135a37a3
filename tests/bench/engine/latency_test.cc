#include "bench/engine/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace kvbench {
namespace {

using Keep = LatencySamples::Keep;

/// Type 7 on the plain list of values.
double SlowPercentile(std::vector<int64_t> values, double percent) {
  std::sort(values.begin(), values.end());
  const double position = percent * static_cast<double>(values.size() - 1) / 100;
  const auto below = static_cast<size_t>(std::floor(position));
  const size_t above = std::min(below + 1, values.size() - 1);
  return static_cast<double>(values[below]) +
         (position - static_cast<double>(below)) *
             static_cast<double>(values[above] - values[below]);
}

TEST(LatencySamplesTest, NothingForNoSamples) {
  for (const Keep keep : {Keep::kValues, Keep::kHistogram}) {
    LatencySamples samples(keep);
    samples.Add(5, 0);
    samples.AddSeries(5, 1, 0, 3);
    EXPECT_EQ(samples.count(), 0);
    EXPECT_FALSE(samples.Mean());
    EXPECT_FALSE(samples.PopulationStd());
    EXPECT_FALSE(samples.Percentile(50));
  }
}

TEST(LatencySamplesTest, AgreesWithAPlainListForSeriesOfAllSizes) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    LatencySamples exact(Keep::kValues);
    LatencySamples histogram(Keep::kHistogram);
    std::vector<int64_t> values;
    const int series = 1 + static_cast<int>(random() % 5);
    for (int i = 0; i < series; ++i) {
      const auto first = static_cast<int64_t>(random() % (uint64_t{1} << (random() % 46)));
      const auto growth =
          random() % 3 == 0 ? 0 : static_cast<int64_t>(random() % (uint64_t{1} << (random() % 36)));
      const auto steps = 1 + static_cast<int64_t>(random() % 100);
      const auto times = 1 + static_cast<int64_t>(random() % 9);
      exact.AddSeries(first, growth, steps, times);
      histogram.AddSeries(first, growth, steps, times);
      for (int64_t step = 0; step < steps; ++step) {
        values.insert(values.end(), static_cast<size_t>(times), first + step * growth);
      }
    }
    const auto n = static_cast<double>(values.size());
    double mean = 0;
    for (const int64_t value : values) {
      mean += static_cast<double>(value) / n;
    }
    double variance = 0;
    for (const int64_t value : values) {
      variance += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean) / n;
    }
    for (const LatencySamples* samples : {&exact, &histogram}) {
      ASSERT_EQ(samples->count(), static_cast<int64_t>(values.size()));
      ASSERT_EQ(samples->max_ps(), *std::max_element(values.begin(), values.end()));
      ASSERT_NEAR(*samples->Mean(), mean, 1e-9 * mean);
      ASSERT_NEAR(*samples->PopulationStd(), std::sqrt(variance), 1e-7 * mean + 1e-9);
    }
    for (const double percent : {0.0, 1.0, 25.0, 50.0, 90.0, 99.0, 100.0}) {
      const double expected = SlowPercentile(values, percent);
      ASSERT_NEAR(*exact.Percentile(percent), expected, 1e-9 * expected);
      ASSERT_NEAR(*histogram.Percentile(percent), expected,
                  LatencySamples::kHistogramError * expected)
          << "percentile " << percent << " of " << values.size();
    }
  }
}

TEST(LatencySamplesTest, SeriesAndSinglesGiveTheSameToTheLastBit) {
  std::mt19937_64 random(8);
  for (const Keep keep : {Keep::kValues, Keep::kHistogram}) {
    LatencySamples together(keep);
    LatencySamples apart(keep);
    for (int i = 0; i < 300; ++i) {
      const auto first = static_cast<int64_t>(random() % 100'000'000'000);
      const auto growth = static_cast<int64_t>(random() % 40'000'000);
      const auto steps = 1 + static_cast<int64_t>(random() % 50);
      together.AddSeries(first, growth, steps, 7);
      for (int64_t step = 0; step < steps; ++step) {
        apart.Add(first + step * growth, 3);
        apart.Add(first + step * growth, 4);
      }
    }
    EXPECT_EQ(together.count(), apart.count());
    EXPECT_EQ(*together.Mean(), *apart.Mean());
    EXPECT_EQ(*together.PopulationStd(), *apart.PopulationStd());
    for (double percent = 0; percent <= 100; percent += 0.5) {
      ASSERT_EQ(*together.Percentile(percent), *apart.Percentile(percent));
    }
  }
}

TEST(LatencySamplesTest, AHundredDaysOverflowNothing) {
  const int64_t longest = int64_t{100} * 24 * 3600 * 1'000'000'000'000;
  LatencySamples samples(Keep::kHistogram);
  samples.Add(longest, 1'000'000'000);
  samples.Add(0);
  EXPECT_NEAR(*samples.Mean(), static_cast<double>(longest), 1e-8 * static_cast<double>(longest));
  EXPECT_NEAR(*samples.PopulationStd(), static_cast<double>(longest) * std::sqrt(1e-9),
              static_cast<double>(longest) * 1e-7);
  EXPECT_EQ(*samples.Percentile(100), static_cast<double>(longest));
}

}  // namespace
}  // namespace kvbench
