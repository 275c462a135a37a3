#include "base/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace kvbench {
namespace {

constexpr double kTolerance = 1e-14;

double RelativeError(double got, double want) {
  return want == 0.0 ? std::abs(got) : std::abs((got - want) / want);
}

TEST(LnTest, AgreesWithTheCLibrary) {
  RandomStream random(1, "test");
  double worst = 0;
  for (int i = 0; i < 200'000; ++i) {
    // All magnitudes, and the neighbourhood of 1, where the logarithm is small.
    const double x =
        i % 2 == 0 ? std::ldexp(1.0 + random.Uniform(), static_cast<int>(random.Below(2046)) - 1022)
                   : 1.0 + (random.Uniform() - 0.5) * std::ldexp(1.0, -static_cast<int>(i % 40));
    worst = std::max(worst, RelativeError(Ln(x), std::log(x)));
  }
  EXPECT_LT(worst, kTolerance);
  EXPECT_LT(RelativeError(Ln(5e-324), std::log(5e-324)), kTolerance);
}

TEST(LnTest, Ends) {
  EXPECT_EQ(Ln(1.0), 0.0);
  EXPECT_EQ(Ln(0.0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Ln(std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(Ln(-1.0)));
  EXPECT_TRUE(std::isnan(Ln(std::nan(""))));
}

TEST(ExpTest, AgreesWithTheCLibrary) {
  RandomStream random(2, "test");
  double worst = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = i % 2 == 0
                         ? -708.0 + 1417.0 * random.Uniform()
                         : (random.Uniform() - 0.5) * std::ldexp(1.0, -static_cast<int>(i % 40));
    worst = std::max(worst, RelativeError(Exp(x), std::exp(x)));
  }
  EXPECT_LT(worst, kTolerance);
}

TEST(ExpTest, Ends) {
  EXPECT_EQ(Exp(0.0), 1.0);
  EXPECT_EQ(Exp(1000.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Exp(709.79), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Exp(-1000.0), 0.0);
  EXPECT_NEAR(Exp(-740.0), std::exp(-740.0), 1e-323) << "a subnormal result";
  EXPECT_TRUE(std::isnan(Exp(std::nan(""))));
}

TEST(NormalQuantileTest, KnownValues) {
  // From tables with 15 digits.
  EXPECT_EQ(NormalQuantile(0.5), 0.0);
  EXPECT_LT(RelativeError(NormalQuantile(0.975), 1.959963984540054), kTolerance);
  EXPECT_LT(RelativeError(NormalQuantile(0.25), -0.674489750196082), kTolerance);
  EXPECT_LT(RelativeError(NormalQuantile(0.001), -3.090232306167814), kTolerance);
  EXPECT_LT(RelativeError(NormalQuantile(1e-20), -9.262340089798408), kTolerance);
}

TEST(NormalQuantileTest, InvertsTheDistributionFunction) {
  RandomStream random(3, "test");
  double worst = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double p = 0.5 * random.OpenUniform() * std::ldexp(1.0, -static_cast<int>(i % 60));
    const double z = NormalQuantile(p);
    // The error of z is that of p over z times the density; a relative error of p of 1e-13 and less
    // is the C library's own in the tail.
    worst = std::max(worst,
                     RelativeError(0.5 * std::erfc(-z / std::sqrt(2.0)), p) / std::max(1.0, z * z));
    EXPECT_EQ(NormalQuantile(0.5 + 0.25 * random.Uniform()) >= 0.0, true);
  }
  EXPECT_LT(worst, 1e-14);
}

}  // namespace
}  // namespace kvbench
