#include "bench/run/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace kvbench {
namespace {

TEST(ForEachParallelTest, CallsEveryIndexOnce) {
  for (const int64_t jobs : {1, 2, 7, 100}) {
    std::vector<std::atomic<int>> calls(50);
    ForEachParallel(50, jobs, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
    for (const auto& count : calls) {
      EXPECT_EQ(count, 1);
    }
    ForEachParallel(0, jobs, [](int64_t) { FAIL(); });
  }
}

TEST(ForEachParallelTest, ThrowsTheFirstFailureAgainAndBeginsNothingNew) {
  for (const int64_t jobs : {1, 4}) {
    std::atomic<int> calls = 0;
    try {
      ForEachParallel(100'000, jobs, [&](int64_t i) {
        ++calls;
        if (i == 3) {
          throw std::runtime_error("index " + std::to_string(i));
        }
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "index 3");
    }
    EXPECT_LT(calls, 100'000);
  }
}

}  // namespace
}  // namespace kvbench
