#include "base/number_text.h"

#include <gtest/gtest.h>

namespace kvbench {
namespace {

int64_t Value(std::string_view text, int decimals, ExtraDecimals extra = ExtraDecimals::kRefuse) {
  const Decimal decimal = ParseDecimal(text, decimals, extra);
  EXPECT_EQ(decimal.status, DecimalStatus::kOk) << text;
  return decimal.value;
}

TEST(ParseDecimalTest, IsExact) {
  EXPECT_EQ(Value("0", 6), 0);
  EXPECT_EQ(Value("27482", 6), 27'482'000'000);
  EXPECT_EQ(Value("1.25", 6), 1'250'000);
  EXPECT_EQ(Value("0.000001", 6), 1);
  EXPECT_EQ(Value("123456789.123456", 6), 123'456'789'123'456);
  EXPECT_EQ(Value("-3.5", 1), -35);
  EXPECT_EQ(Value("+7", 0), 7);
  EXPECT_EQ(Value("7.", 0), 7);
  EXPECT_EQ(Value(".5", 1), 5);
  EXPECT_EQ(Value("472.0", 0), 472);
  EXPECT_EQ(Value("1.2500000000000000000000000", 2), 125) << "zeros past the last decimal are fine";
  EXPECT_EQ(Value("9223372036854775807", 0), INT64_MAX);
}

TEST(ParseDecimalTest, Exponents) {
  EXPECT_EQ(Value("1e3", 0), 1000);
  EXPECT_EQ(Value("1.5E+2", 0), 150);
  EXPECT_EQ(Value("1500e-2", 0), 15);
  EXPECT_EQ(Value("1e-6", 6), 1);
  EXPECT_EQ(Value("0e999999999999999999999", 0), 0);
  EXPECT_EQ(ParseDecimal("1e309", 0).status, DecimalStatus::kTooLarge);
  EXPECT_EQ(ParseDecimal("1e-7", 6).status, DecimalStatus::kTooManyDecimals);
}

TEST(ParseDecimalTest, TooManyDecimals) {
  EXPECT_EQ(ParseDecimal("1.2500001", 6).status, DecimalStatus::kTooManyDecimals);
  EXPECT_EQ(Value("1.25", 1, ExtraDecimals::kRoundHalfUp), 13);
  EXPECT_EQ(Value("1.2499999", 1, ExtraDecimals::kRoundHalfUp), 12);
  EXPECT_EQ(Value("0.9999", 0, ExtraDecimals::kRoundHalfUp), 1);
  EXPECT_EQ(Value("0.04", 0, ExtraDecimals::kRoundHalfUp), 0);
  EXPECT_EQ(Value("9e-5", 3, ExtraDecimals::kRoundHalfUp), 0) << "0.09 thousandths";
}

TEST(ParseDecimalTest, TooLarge) {
  EXPECT_EQ(ParseDecimal("9223372036854775808", 0).status, DecimalStatus::kTooLarge);
  EXPECT_EQ(ParseDecimal("9223372036855", 6).status, DecimalStatus::kTooLarge);
  EXPECT_EQ(ParseDecimal(std::string(5000, '9'), 0).status, DecimalStatus::kTooLarge);
}

TEST(ParseDecimalTest, NotANumber) {
  for (const std::string_view text : {"", "-", ".", "abc", "1x", "1e", "1e+", "--1", "1.2.3", "NaN",
                                      "inf", " 1", "1 ", "0x10", "1e5.0"}) {
    EXPECT_EQ(ParseDecimal(text, 3).status, DecimalStatus::kNotANumber) << text;
  }
}

TEST(ParseDoubleTest, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(ParseDouble("0.25"), 0.25);
  EXPECT_EQ(ParseDouble("1e3"), 1000.0);
  EXPECT_FALSE(ParseDouble("1e309"));
  EXPECT_FALSE(ParseDouble("inf"));
  EXPECT_FALSE(ParseDouble("nan"));
  EXPECT_FALSE(ParseDouble("0.25x"));
  EXPECT_FALSE(ParseDouble(""));
}

TEST(ParseIntegerTest, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(ParseInteger("-12"), -12);
  EXPECT_FALSE(ParseInteger("12.0"));
  EXPECT_FALSE(ParseInteger(""));
  EXPECT_FALSE(ParseInteger("99999999999999999999"));
}

}  // namespace
}  // namespace kvbench
