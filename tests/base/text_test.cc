#include "base/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace kvbench {
namespace {

TEST(Text, Thousands) {
  EXPECT_EQ(Thousands(0), "0");
  EXPECT_EQ(Thousands(999), "999");
  EXPECT_EQ(Thousands(1000), "1,000");
  EXPECT_EQ(Thousands(-123456), "-123,456");
  EXPECT_EQ(Thousands(int64_t{1234567890}), "1,234,567,890");
  EXPECT_EQ(Thousands(1234.56, 1), "1,234.6");
  EXPECT_EQ(Thousands(999999.5, 0), "1,000,000");
  EXPECT_EQ(Thousands(std::nullopt, 1), "-");
  EXPECT_EQ(Thousands(std::numeric_limits<double>::quiet_NaN(), 1), "-");
  EXPECT_EQ(Thousands(std::numeric_limits<double>::infinity(), 1), "-");
}

TEST(Text, BytesInTheUnitThatFits) {
  EXPECT_EQ(Bytes(512), "512 B");
  EXPECT_EQ(Bytes(1536), "1.5 KiB");
  EXPECT_EQ(Bytes(32'243'712), "30.8 MiB");
  EXPECT_EQ(Bytes(int64_t{12} << 30), "12 GiB");
  EXPECT_EQ(Bytes(-1536), "-1.5 KiB");
  EXPECT_EQ(Bytes(int64_t{2} << 30, 2), "2.00 GiB");
  EXPECT_EQ(Bytes(-1234, 2), "-1.21 KiB");
  EXPECT_EQ(Bytes(512, 2), "512 B");
}

TEST(Text, PrintableAsciiKeepsAColumnAByte) {
  EXPECT_EQ(PrintableAscii("a\x1b[31m\n"), "a?[31m?");
  EXPECT_EQ(PrintableAscii("\xc3\xa9"), "??");
}

TEST(Text, WrapKeepsWithinTheColumns) {
  EXPECT_EQ(Wrap("one two three", 100, 2), "one two three");
  EXPECT_EQ(Wrap("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(Wrap("abcdefghij", 4, 1), "abcd\n efg\n hij");
  EXPECT_EQ(Wrap("", 4, 1), "");
}

TEST(Text, JoinWords) {
  EXPECT_EQ(JoinWords({}), "");
  EXPECT_EQ(JoinWords({"a"}), "a");
  EXPECT_EQ(JoinWords({"a", "b"}), "a and b");
  EXPECT_EQ(JoinWords({"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace kvbench
