#include "bench/micro/workbench.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "bench/machine/machine_state.h"
#include "kernels/mix_bits.h"

namespace kvbench::micro {

namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
/// One sequence of 32,768 tokens with 32 KV heads of 128 in fp16, K and V.
constexpr int64_t kLongSequence = 512 * kMiB;
constexpr int64_t kUnknownCache = 32 * kMiB;

}  // namespace

Workbench::Workbench()
    : cores_(static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))) {
  const MachineState machine = ReadMachineState();
  last_level_cache_bytes_ = LastLevelCacheBytes(machine.caches, cores_);
  if (last_level_cache_bytes_ == 0) {
    last_level_cache_bytes_ = kUnknownCache;
  }
  roof_bytes_ = std::max(256 * kMiB, MemoryWorkingSet(machine.caches, cores_));
  // Padded contiguous sequences need a sixteenth more, aged pools a few free blocks.
  const int64_t wanted = std::max(10 * last_level_cache_bytes_, kLongSequence) / 2;
  const int64_t most = machine.available_memory_bytes.value_or(8 * kLongSequence) / 4;
  arena_bytes_ = RoundUp(std::min(wanted + wanted / 8, most), Buffer::kHugePage);
  working_set_bytes_ =
      std::min(10 * last_level_cache_bytes_, 2 * (arena_bytes_ - arena_bytes_ / 8));
}

std::vector<int> Workbench::thread_counts() const {
  return cores_ == 1 ? std::vector<int>{1} : std::vector<int>{1, cores_};
}

ThreadPool& Workbench::pool(int threads) {
  std::unique_ptr<ThreadPool>& pool = pools_[threads];
  if (pool == nullptr) {
    pool = std::make_unique<ThreadPool>(threads);
  }
  return *pool;
}

CpuAttention& Workbench::attention(int threads, const std::string& kernel) {
  std::unique_ptr<CpuAttention>& attention = attentions_[{threads, kernel}];
  if (attention == nullptr) {
    attention = std::make_unique<CpuAttention>(pool(threads), kernel);
  }
  return *attention;
}

ReadRoof& Workbench::roof() {
  if (!roof_) {
    roof_.emplace(static_cast<size_t>(roof_bytes_));
  }
  return *roof_;
}

void* Workbench::k() {
  FillArenas();
  return k_.as<void>();
}

void* Workbench::v() {
  FillArenas();
  return v_.as<void>();
}

float* Workbench::k_scales() {
  FillArenas();
  return k_scales_.as<float>();
}

float* Workbench::v_scales() {
  FillArenas();
  return v_scales_.as<float>();
}

void Workbench::FillArenas() {
  if (k_.size() > 0) {
    return;
  }
  k_ = Buffer(static_cast<size_t>(arena_bytes_));
  v_ = Buffer(static_cast<size_t>(arena_bytes_));
  constexpr int64_t kLeastRow = 64;
  constexpr float kScale = 0.01F;
  for (Buffer* scales : {&k_scales_, &v_scales_}) {
    *scales = Buffer(static_cast<size_t>(arena_bytes_ / kLeastRow) * sizeof(float));
    std::fill_n(scales->as<float>(), arena_bytes_ / kLeastRow, kScale);
  }
  RestoreArenas();
}

void Workbench::RestoreArenas() {
  // A repeated piece is as good as new numbers for a reader, and quicker to write.
  constexpr int64_t kPiece = kMiB;
  for (Buffer* arena : {&k_, &v_}) {
    char* const begin = arena->as<char>();
    FillPattern(begin, kPiece, arena == &k_ ? 1 : 2);
    for (int64_t at = kPiece; at < arena_bytes_; at += kPiece) {
      std::memcpy(begin + at, begin, static_cast<size_t>(std::min(kPiece, arena_bytes_ - at)));
    }
  }
}

void FillPattern(void* to, int64_t bytes, uint64_t seed) {
  for (int64_t i = 0; i < bytes / 8; ++i) {
    const uint64_t random = MixBits(seed << 40 ^ static_cast<uint64_t>(i));
    // In each word a sign, and an exponent that is small in fp16 and in bf16: 0x3c00 to 0x3fff.
    const uint64_t words = (random & 0x83ff83ff83ff83ffu) | 0x3c003c003c003c00u;
    std::memcpy(static_cast<char*>(to) + 8 * i, &words, sizeof(words));
  }
}

}  // namespace kvbench::micro
