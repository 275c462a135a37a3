#include "base/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

namespace kvbench {
namespace {

struct Moments {
  double mean = 0, variance = 0, skewness = 0;
};

Moments MomentsOf(int n, const std::function<double()>& draw) {
  std::vector<double> x(static_cast<size_t>(n));
  Moments m;
  for (double& value : x) {
    value = draw();
    m.mean += value / n;
  }
  for (const double value : x) {
    m.variance += (value - m.mean) * (value - m.mean) / n;
    m.skewness += std::pow(value - m.mean, 3) / n;
  }
  m.skewness /= std::pow(m.variance, 1.5);
  return m;
}

TEST(RandomStreamTest, SameSeedAndNameGiveTheSameNumbers) {
  RandomStream a(7, "lengths");
  RandomStream b(7, "lengths");
  RandomStream other_name(7, "arrivals");
  RandomStream other_seed(8, "lengths");
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const uint64_t bits = a.Next();
    EXPECT_EQ(bits, b.Next());
    same += bits == other_name.Next();
    same += bits == other_seed.Next();
  }
  EXPECT_EQ(same, 0);
}

TEST(RandomStreamTest, GoldenNumbers) {
  // The same on every machine, for ever: traces and their digests depend on them.
  RandomStream random(1, "golden");
  EXPECT_EQ(random.Next(), 13480003552938265765u);
  EXPECT_EQ(std::bit_cast<uint64_t>(random.Uniform()), 4597175761141510460u);
  EXPECT_EQ(std::bit_cast<uint64_t>(random.Normal()), 4609352419731881585u);
  EXPECT_EQ(std::bit_cast<uint64_t>(random.Exponential()), 4611006495967624878u);
  EXPECT_EQ(std::bit_cast<uint64_t>(random.Gamma(0.25)), 4603125295470283657u);
}

TEST(RandomStreamTest, UniformIsInItsRangeAndFlat) {
  RandomStream random(2, "test");
  int counts[10] = {};
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.Uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++counts[static_cast<int>(10 * u)];
    const double open = random.OpenUniform();
    ASSERT_GT(open, 0.0);
    ASSERT_LT(open, 1.0);
  }
  double chi_square = 0;
  for (const int count : counts) {
    chi_square += std::pow(count - kDraws / 10.0, 2) / (kDraws / 10.0);
  }
  EXPECT_LT(chi_square, 27.9) << "the 99.9th percentile for 9 degrees of freedom";
}

TEST(RandomStreamTest, BelowGivesEveryValue) {
  RandomStream random(3, "test");
  std::set<uint64_t> seen;
  for (int i = 0; i < 200; ++i) {
    const uint64_t value = random.Below(5);
    ASSERT_LT(value, 5u);
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_EQ(random.Below(1), 0u);
}

TEST(RandomStreamTest, NormalMoments) {
  RandomStream random(4, "test");
  const Moments m = MomentsOf(200'000, [&] { return random.Normal(); });
  EXPECT_NEAR(m.mean, 0.0, 0.01);
  EXPECT_NEAR(m.variance, 1.0, 0.015);
  EXPECT_NEAR(m.skewness, 0.0, 0.03);
}

TEST(RandomStreamTest, ExponentialMomentsAndTail) {
  RandomStream random(5, "test");
  int beyond_five = 0;
  const Moments m = MomentsOf(200'000, [&] {
    const double x = random.Exponential();
    beyond_five += x > 5.0;
    return x;
  });
  EXPECT_NEAR(m.mean, 1.0, 0.01);
  EXPECT_NEAR(m.variance, 1.0, 0.03);
  EXPECT_NEAR(beyond_five / 200'000.0, std::exp(-5.0), 0.0006);
}

TEST(RandomStreamTest, GammaMoments) {
  for (const double shape : {0.04, 0.25, 1.0, 2.5, 100.0}) {
    RandomStream random(6, "test");
    const Moments m = MomentsOf(400'000, [&] { return random.Gamma(shape); });
    EXPECT_NEAR(m.mean / shape, 1.0, 0.006 / std::sqrt(shape)) << shape;
    EXPECT_NEAR(m.variance / shape, 1.0, 0.02 / std::sqrt(shape) + 0.01) << shape;
    EXPECT_NEAR(m.skewness * std::sqrt(shape) / 2.0, 1.0, 0.15) << shape;
  }
}

}  // namespace
}  // namespace kvbench
