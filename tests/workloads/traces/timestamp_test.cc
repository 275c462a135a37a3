#include "workloads/traces/timestamp.h"

#include <gtest/gtest.h>

namespace kvbench {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

TEST(ParseTimestampTest, KnownTimes) {
  EXPECT_EQ(ParseTimestamp("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(ParseTimestamp("2000-03-01T00:00:00Z"), 951868800 * kNsPerSecond);
  EXPECT_EQ(ParseTimestamp("2023-11-16 18:15:46.6805900"), 1700158546 * kNsPerSecond + 680'590'000);
  EXPECT_EQ(ParseTimestamp("2024-05-10 02:00:00.000000001+02:00"), 1715299200 * kNsPerSecond + 1);
  EXPECT_EQ(ParseTimestamp("2200-12-31 23:59:59"), 7289654399 * kNsPerSecond);
}

TEST(ParseTimestampTest, CrossesDaysMonthsAndLeapDays) {
  const auto gap = [](const char* a, const char* b) {
    return (*ParseTimestamp(b) - *ParseTimestamp(a)) / kNsPerSecond;
  };
  EXPECT_EQ(gap("2023-11-16 23:59:59", "2023-11-17 00:00:01"), 2);
  EXPECT_EQ(gap("2024-02-28 23:59:59", "2024-03-01 00:00:00"), 86401);
  EXPECT_EQ(gap("2023-02-28 23:59:59", "2023-03-01 00:00:00"), 1);
  EXPECT_EQ(gap("2023-12-31 23:59:59", "2024-01-01 00:00:00"), 1);
}

TEST(ParseTimestampTest, RefusesWhatIsNoTime) {
  for (const char* text : {"",
                           "2023",
                           "2023-11-16",
                           "2023-11-16 18:15",
                           "2023-13-16 18:15:46",
                           "2023-02-29 00:00:00",
                           "2023-11-16 24:00:00",
                           "2023-11-16 18:60:46",
                           "2023-11-16 18:15:60",
                           "2023-11-16 18:15:46.",
                           "2023-11-16 18:15:46.1234567890",
                           "2023-11-16 18:15:46x",
                           "1969-12-31 23:59:59",
                           "2201-01-01 00:00:00",
                           "2023-11-16_18:15:46",
                           "20231-11-16 18:15:46",
                           "2023-11-16 18:15:46+2",
                           "2023-00-10 00:00:00",
                           "2023-01-00 00:00:00",
                           "-023-01-01 00:00:00"}) {
    EXPECT_FALSE(ParseTimestamp(text)) << text;
  }
}

}  // namespace
}  // namespace kvbench
