#include "kernels/cpu/read_roof.h"

#include <atomic>
#include <chrono>
#include <cstdint>

#include "kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/read_roof.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Or of `count` words, a multiple of 8 vectors: the cheapest use of a value that a compiler cannot
// drop.
uint64_t ReadWords(const uint64_t* HWY_RESTRICT from, int64_t count) {
  const hn::ScalableTag<uint64_t> d;
  constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  for (int64_t i = 0; i + 8 * kLanes <= count; i += 8 * kLanes) {
    a = hn::Or(a, hn::Or(hn::LoadU(d, from + i), hn::LoadU(d, from + i + kLanes)));
    b = hn::Or(b, hn::Or(hn::LoadU(d, from + i + 2 * kLanes), hn::LoadU(d, from + i + 3 * kLanes)));
    c = hn::Or(c, hn::Or(hn::LoadU(d, from + i + 4 * kLanes), hn::LoadU(d, from + i + 5 * kLanes)));
    e = hn::Or(e, hn::Or(hn::LoadU(d, from + i + 6 * kLanes), hn::LoadU(d, from + i + 7 * kLanes)));
  }
  uint64_t lanes[kLanes];
  hn::StoreU(hn::Or(hn::Or(a, b), hn::Or(c, e)), d, lanes);
  uint64_t result = 0;
  for (const uint64_t lane : lanes) result |= lane;
  return result;
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvbench {

HWY_EXPORT(ReadWords);

namespace {
constexpr int64_t kUnitWords = 512;  // a 4 KiB page
}

ReadRoof::ReadRoof(size_t bytes) : buffer_(bytes) { buffer_.Touch(); }

double ReadRoof::Measure(ThreadPool& pool) {
  const auto read = HWY_DYNAMIC_DISPATCH(ReadWords);
  const int64_t words =
      static_cast<int64_t>(buffer_.size() / sizeof(uint64_t)) / kUnitWords * kUnitWords;
  std::atomic<uint64_t> used{0};
  const auto start = std::chrono::steady_clock::now();
  pool.Run([&](int thread) {
    const ThreadRange range = SplitRange(words, thread, pool.size(), kUnitWords);
    used.fetch_or(read(buffer_.as<uint64_t>() + range.begin, range.end - range.begin),
                  std::memory_order_relaxed);
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return static_cast<double>(words) * sizeof(uint64_t) / seconds.count();
}

}  // namespace kvbench
#endif
