#include "kernels/cpu/prefetch_level.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "hwy/cache_control.h"
#include "kernels/cpu/buffer.h"

namespace kvbench {
namespace {

constexpr size_t kBytes = size_t{4} << 20;
constexpr size_t kPiece = 2048;  // a block of one token of 8 heads of 128 in fp16
constexpr size_t kAhead = 4;     // pieces, as far ahead as decode attention prefetches
constexpr size_t kLine = 64;
constexpr int kRounds = 5;

std::atomic<char> used;

/// Seconds for a word of each line, piece by piece in the given order.
template <PrefetchLevel kLevel>
double Read(const char* from, const std::vector<size_t>& order) {
  // Out of all caches first.
  for (size_t i = 0; i < kBytes; i += kLine) hwy::FlushCacheline(from + i);
  // Orders them before the reads; a fence of its own is what the thread sanitizer does not know.
  std::atomic<int>(0).exchange(1, std::memory_order_seq_cst);
  const auto start = std::chrono::steady_clock::now();
  char all = 0;
  for (size_t i = 0; i + kAhead < order.size(); ++i) {
    const char* const now = from + order[i] * kPiece;
    const char* const later = from + order[i + kAhead] * kPiece;
    for (size_t byte = 0; byte < kPiece; byte += kLine) {
      __builtin_prefetch(later + byte, 0, kLevel == PrefetchLevel::kFirst ? 3 : 2);
      all = static_cast<char>(all | now[byte]);
    }
  }
  used.store(all, std::memory_order_relaxed);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

PrefetchLevel Measure() {
  Buffer buffer(kBytes);
  buffer.Touch();
  std::vector<size_t> order(kBytes / kPiece);
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  // The best of each: what other programs cost does not count.
  double first = std::numeric_limits<double>::infinity();
  double second = first;
  for (int i = 0; i < kRounds; ++i) {
    first = std::min(first, Read<PrefetchLevel::kFirst>(buffer.as<char>(), order));
    second = std::min(second, Read<PrefetchLevel::kSecond>(buffer.as<char>(), order));
  }
  return second < 0.9 * first ? PrefetchLevel::kSecond : PrefetchLevel::kFirst;
}

}  // namespace

PrefetchLevel FasterPrefetchLevel() {
  static const PrefetchLevel level = Measure();
  return level;
}

}  // namespace kvbench
