#include "bench/run/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kvbench {

void ForEachParallel(int64_t count, int64_t jobs, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next = 0;
  std::atomic<bool> stop = false;
  std::mutex mutex;
  std::exception_ptr failure;
  int64_t failed_index = count;
  const auto run = [&] {
    while (!stop) {
      const int64_t index = next++;
      if (index >= count) {
        return;
      }
      try {
        work(index);
      } catch (...) {
        stop = true;
        const std::scoped_lock lock(mutex);
        if (index < failed_index) {
          failed_index = index;
          failure = std::current_exception();
        }
      }
    }
  };
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < std::min(jobs, count); ++i) {
    threads.emplace_back(run);
  }
  run();
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace kvbench
