#include "results/compare/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/statistics.h"

namespace kvbench {
namespace {

using Values = std::vector<double>;

/// The medians of all n^n resamples of n values, ascending.
Values AllMedians(const Values& sample) {
  const size_t n = sample.size();
  size_t all = 1;
  for (size_t i = 0; i < n; ++i) {
    all *= n;
  }
  Values medians;
  for (size_t code = 0; code < all; ++code) {
    Values drawn;
    for (size_t i = 0, rest = code; i < n; ++i, rest /= n) {
      drawn.push_back(sample[rest % n]);
    }
    medians.push_back(MedianInPlace(drawn));
  }
  std::sort(medians.begin(), medians.end());
  return medians;
}

TEST(Bootstrap, ApproachesTheDistributionOfAllResamples) {
  const Values numerator = {10, 11, 12.5, 14, 17};
  const Values denominator = {9, 10.2, 10.9, 12};
  Values exact;
  for (const double above : AllMedians(numerator)) {
    for (const double below : AllMedians(denominator)) {
      exact.push_back(above / below);
    }
  }
  std::sort(exact.begin(), exact.end());
  for (const double confidence : {0.5, 0.8, 0.9}) {
    const Interval interval = BootstrapMedianRatio(
        numerator, denominator, {.confidence = confidence, .resamples = 40'000, .seed = 7});
    const double tail = 50 * (1 - confidence);
    EXPECT_NEAR(interval.low, *Percentile(exact, tail), 0.015) << confidence;
    EXPECT_NEAR(interval.high, *Percentile(exact, 100 - tail), 0.015) << confidence;
  }
}

TEST(Bootstrap, TheSameSeedGivesTheSameBits) {
  const Values a = {3, 1, 4, 1, 5, 9, 2, 6, 5};
  const Values b = {2, 7, 1, 8, 2, 8, 1, 8, 2};
  const Interval first = BootstrapMedianRatio(a, b, {});
  const Interval second = BootstrapMedianRatio(a, b, {});
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
  EXPECT_LT(first.low, first.high);
}

TEST(Bootstrap, CoversAsOftenAsItSays) {
  // Medians of nine values of a lognormal distribution whose median is 1, against another such
  // nine: 95 % intervals of the ratio hold 1 about as often, on the cautious side.
  Resampler random(5);
  const auto normal = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
      sum += static_cast<double>(random.Next() >> 11) * 0x1p-53;
    }
    return sum;
  };
  int held = 0;
  constexpr int kTimes = 400;
  for (int i = 0; i < kTimes; ++i) {
    Values a(9);
    Values b(9);
    for (size_t j = 0; j < 9; ++j) {
      a[j] = std::exp(0.1 * normal());
      b[j] = std::exp(0.1 * normal());
    }
    const Interval interval = BootstrapMedianRatio(a, b, {.resamples = 500});
    held += interval.low <= 1 && interval.high >= 1 ? 1 : 0;
  }
  EXPECT_GE(held, kTimes * 92 / 100);
}

TEST(Bootstrap, TheMedianIsThatOfStatistics) {
  for (const Values& values : {Values{3}, Values{3, 1}, Values{3, 1, 2}, Values{4, 1, 2, 9}}) {
    Values copy = values;
    EXPECT_EQ(MedianInPlace(copy), Median(values));
  }
}

TEST(Bootstrap, TheGeneratorIsSplitMix64) {
  Resampler random(1234567);  // the reference implementation's published output
  EXPECT_EQ(random.Next(), 6457827717110365317U);
  EXPECT_EQ(random.Next(), 3203168211198807973U);
}

}  // namespace
}  // namespace kvbench
