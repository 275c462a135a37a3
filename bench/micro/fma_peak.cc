#include "bench/micro/fma_peak.h"

#include <atomic>
#include <chrono>
#include <cstdint>

#include "kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/micro/fma_peak.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench::micro {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sums that do not wait for each other: two instructions a cycle with a latency of four or five
// cycles need ten, and 16 registers hold no more beside the factors.
constexpr int kSums = 12;

/// Floating-point operations of `rounds` rounds, done; `result` gets a number that needs them all.
int64_t MultiplyAdd(int64_t rounds, float* result) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, *result);
  const auto term = hn::Set(d, 1.0F - *result);  // 1 stays 1
  hn::Vec<hn::ScalableTag<float>> sums[kSums];
  for (auto& sum : sums) sum = hn::Set(d, 1.0F);
  for (int64_t round = 0; round < rounds; ++round) {
    KVBENCH_UNROLL
    for (int i = 0; i < kSums; ++i) sums[i] = hn::MulAdd(sums[i], factor, term);
  }
  auto all = sums[0];
  for (int i = 1; i < kSums; ++i) all = hn::Add(all, sums[i]);
  *result = hn::GetLane(all);
  return rounds * kSums * 2 * static_cast<int64_t>(hn::Lanes(d));
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench::micro
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvbench::micro {

HWY_EXPORT(MultiplyAdd);

double MeasureFmaPeak(ThreadPool& pool) {
  constexpr int64_t kRounds = 1'000'000;
  const auto multiply_add = HWY_DYNAMIC_DISPATCH(MultiplyAdd);
  std::atomic<int64_t> operations{0};
  const auto start = std::chrono::steady_clock::now();
  pool.Run([&](int) {
    volatile float half = 0.5F;
    float result = half;
    const int64_t done = multiply_add(kRounds, &result);
    half = result;
    operations.fetch_add(done, std::memory_order_relaxed);
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return static_cast<double>(operations.load()) / seconds.count();
}

}  // namespace kvbench::micro
#endif
