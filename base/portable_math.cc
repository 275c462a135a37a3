#include "base/portable_math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kvbench {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
// ln 2 in two parts; the first has 21 trailing zero bits, so that its product with an exponent is
// exact.
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kInverseLn2 = 1.44269504088896340736;

constexpr int kMantissaBits = 52;
constexpr int kExponentBias = 1023;

/// 2 to the power n for a normal result, -1022 <= n <= 1023.
double PowerOfTwo(int n) {
  return std::bit_cast<double>(static_cast<uint64_t>(n + kExponentBias) << kMantissaBits);
}

/// c[0] + c[1] x + c[2] x^2 + ...
template <int n>
double Polynomial(const double (&c)[n], double x) {
  double sum = c[n - 1];
  for (int i = n - 2; i >= 0; --i) {
    sum = sum * x + c[i];
  }
  return sum;
}

// The coefficients of AS 241, PPND16, lowest power first.
constexpr double kCenterNumerator[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                       1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                       4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                       3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr double kCenterDenominator[] = {1.0,
                                         4.2313330701600911252e+1,
                                         6.8718700749205790830e+2,
                                         5.3941960214247511077e+3,
                                         2.1213794301586595867e+4,
                                         3.9307895800092710610e+4,
                                         2.8729085735721942674e+4,
                                         5.2264952788528545610e+3};
constexpr double kMiddleNumerator[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                       5.76949722146069140550e0,  3.64784832476320460504e0,
                                       1.27045825245236838258e0,  2.41780725177450611770e-1,
                                       2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double kMiddleDenominator[] = {1.0,
                                         2.05319162663775882187e0,
                                         1.67638483018380384940e0,
                                         6.89767334985100004550e-1,
                                         1.48103976427480074590e-1,
                                         1.51986665636164571966e-2,
                                         5.47593808499534494600e-4,
                                         1.05075007164441684324e-9};
constexpr double kTailNumerator[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                     1.78482653991729133580e0,  2.96560571828504891230e-1,
                                     2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                     2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double kTailDenominator[] = {1.0,
                                       5.99832206555887937690e-1,
                                       1.36929880922735805310e-1,
                                       1.48753612908506148525e-2,
                                       7.86869131145613259100e-4,
                                       1.84631831751005468180e-5,
                                       1.42151175831644588870e-7,
                                       2.04426310338993978564e-15};

}  // namespace

double Ln(double x) {
  if (x != x || x < 0.0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (x == 0.0) {
    return -std::numeric_limits<double>::infinity();
  }
  if (x == std::numeric_limits<double>::infinity()) {
    return x;
  }
  int exponent = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= PowerOfTwo(54);
    exponent = -54;
  }
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  exponent += static_cast<int>(bits >> kMantissaBits) - kExponentBias;
  constexpr uint64_t kMantissaMask = (uint64_t{1} << kMantissaBits) - 1;
  double mantissa =
      std::bit_cast<double>((bits & kMantissaMask) | (uint64_t{kExponentBias} << kMantissaBits));
  // mantissa in [sqrt(1/2), sqrt(2)): near 1 the exponent is 0 and nothing cancels.
  if (mantissa > 2.0 * kSqrtHalf) {
    mantissa *= 0.5;
    ++exponent;
  }
  // ln m = 2 artanh s = 2 (s + s^3 / 3 + s^5 / 5 + ...), s = (m - 1) / (m + 1), |s| < 0.172.
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double s2 = s * s;
  double series = 0.0;
  for (int k = 25; k >= 3; k -= 2) {
    series = (series + 1.0 / k) * s2;
  }
  return exponent * kLn2High + (exponent * kLn2Low + 2.0 * s * series + 2.0 * s);
}

double Exp(double x) {
  constexpr double kOverflow = 709.8;
  constexpr double kUnderflow = -745.2;
  if (x != x) {
    return x;
  }
  if (x > kOverflow) {
    return std::numeric_limits<double>::infinity();
  }
  if (x < kUnderflow) {
    return 0.0;
  }
  // e^x = 2^n e^r with |r| <= ln(2) / 2.
  const double scaled = x * kInverseLn2;
  const int n = static_cast<int>(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double series = 0.0;
  for (int k = 16; k >= 2; --k) {
    series = (series + 1.0) * r / k;
  }
  const double value = 1.0 + (r + r * series);
  // Two factors, since 2^n alone may be too large or too small to be a normal number.
  const int half = n / 2;
  return value * PowerOfTwo(half) * PowerOfTwo(n - half);
}

double NormalQuantile(double p) {
  const double q = p - 0.5;
  if (q >= -0.425 && q <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * Polynomial(kCenterNumerator, r) / Polynomial(kCenterDenominator, r);
  }
  const double r = std::sqrt(-Ln(q < 0.0 ? p : 1.0 - p));
  const double z =
      r <= 5.0 ? Polynomial(kMiddleNumerator, r - 1.6) / Polynomial(kMiddleDenominator, r - 1.6)
               : Polynomial(kTailNumerator, r - 5.0) / Polynomial(kTailDenominator, r - 5.0);
  return q < 0.0 ? -z : z;
}

}  // namespace kvbench
