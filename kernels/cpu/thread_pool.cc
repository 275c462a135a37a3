#include "kernels/cpu/thread_pool.h"

#include <cassert>

#include "hwy/cache_control.h"

namespace kvbench {
namespace {

// About 20-50 microseconds of spinning: longer than the gap between two operations of a layer,
// short enough not to take a core from someone else while the caller does other work.
constexpr int kSpins = 1000;

template <typename T>
void AwaitChange(const std::atomic<T>& value, T old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    hwy::Pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int num_threads) {
  assert(num_threads >= 1);
  workers_.reserve(static_cast<size_t>(num_threads - 1));
  try {
    for (int thread = 1; thread < num_threads; ++thread) {
      workers_.emplace_back([this, thread] { Work(thread); });
    }
  } catch (...) {
    Stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { Stop(); }

void ThreadPool::Stop() {
  stop_ = true;
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Dispatch(Invoke invoke, void* target) {
  if (workers_.empty()) {
    invoke(target, 0);
    return;
  }
  invoke_ = invoke;
  target_ = target;
  running_.store(static_cast<int32_t>(workers_.size()), std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  invoke(target, 0);
  for (int32_t left = running_.load(std::memory_order_acquire); left != 0;
       left = running_.load(std::memory_order_acquire)) {
    AwaitChange(running_, left);
  }
}

void ThreadPool::Work(int thread) {
  for (uint32_t seen = 0;;) {
    AwaitChange(epoch_, seen);
    // The caller starts the next call only after this worker has finished this one, so no epoch is
    // missed.
    ++seen;
    if (stop_) return;
    invoke_(target_, thread);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_one();
  }
}

}  // namespace kvbench
