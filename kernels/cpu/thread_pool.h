#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace kvbench {

/// A fixed set of threads for everything that runs on the CPU. The caller is thread 0, so a pool of
/// one starts none. A call costs about a microsecond while the workers still spin, more once they
/// sleep. Not reentrant; one caller.
class ThreadPool {
 public:
  /// @param num_threads at least 1, the caller included. Throws std::system_error when a thread
  /// cannot start.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls fn(thread) once for each thread in [0, size()), each on its own thread, and returns when
  /// all have returned. fn must not throw. Allocates nothing.
  template <typename Fn>
  void Run(Fn&& fn) {
    using Target = std::remove_reference_t<Fn>;
    Dispatch([](void* target, int thread) { (*static_cast<Target*>(target))(thread); },
             const_cast<void*>(static_cast<const void*>(&fn)));
  }

 private:
  using Invoke = void (*)(void* target, int thread);

  void Dispatch(Invoke invoke, void* target);
  void Work(int thread);
  void Stop();

  // Written by the caller before epoch_ moves on, read by the workers after they saw it move.
  Invoke invoke_ = nullptr;
  void* target_ = nullptr;
  bool stop_ = false;
  alignas(64) std::atomic<uint32_t> epoch_{0};
  alignas(64) std::atomic<int32_t> running_{0};
  std::vector<std::thread> workers_;
};

/// The part of [0, total) that thread `thread` of `threads` takes, with borders at multiples of
/// `align`.
struct ThreadRange {
  int64_t begin = 0;
  int64_t end = 0;
};
constexpr ThreadRange SplitRange(int64_t total, int thread, int threads, int64_t align = 1) {
  const int64_t units = (total + align - 1) / align;
  const int64_t begin = units * thread / threads * align;
  const int64_t end = units * (thread + 1) / threads * align;
  return {begin < total ? begin : total, end < total ? end : total};
}

}  // namespace kvbench
