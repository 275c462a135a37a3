#include "kernels/cpu/thread_pool.h"

#include <chrono>
#include <vector>

#include "gtest/gtest.h"

namespace kvbench {
namespace {

TEST(ThreadPoolTest, CallsEachThreadOnceAndWaits) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    std::vector<int> calls(static_cast<size_t>(threads), 0);
    for (int repeat = 1; repeat <= 200; ++repeat) {
      pool.Run([&](int thread) { ++calls[static_cast<size_t>(thread)]; });
      for (const int count : calls) ASSERT_EQ(count, repeat);
    }
  }
}

TEST(ThreadPoolTest, WorkersWakeAfterSleeping) {
  ThreadPool pool(3);
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<int> sum{0};
    pool.Run([&](int thread) { sum += thread; });
    EXPECT_EQ(sum, 3);
  }
}

TEST(ThreadPoolTest, WaitsForSlowWorkers) {
  ThreadPool pool(2);
  int done = 0;
  pool.Run([&](int thread) {
    if (thread == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    done = 1;
  });
  EXPECT_EQ(done, 1);
}

TEST(ThreadPoolTest, UnusedPoolEnds) { ThreadPool pool(4); }

TEST(SplitRangeTest, CoversEverythingOnceAtAlignedBorders) {
  for (const int64_t total : {0, 1, 15, 16, 17, 1000}) {
    for (const int threads : {1, 2, 3, 7}) {
      for (const int64_t align : {1, 16}) {
        int64_t at = 0;
        for (int thread = 0; thread < threads; ++thread) {
          const ThreadRange range = SplitRange(total, thread, threads, align);
          EXPECT_EQ(range.begin, at);
          EXPECT_LE(range.begin, range.end);
          EXPECT_TRUE(range.end % align == 0 || range.end == total);
          at = range.end;
        }
        EXPECT_EQ(at, total);
      }
    }
  }
}

}  // namespace
}  // namespace kvbench
