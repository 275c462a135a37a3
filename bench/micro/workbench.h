#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/buffer.h"
#include "kernels/cpu/read_roof.h"
#include "kernels/cpu/thread_pool.h"

namespace kvbench::micro {

/// The next multiple of `unit`.
inline int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// What the cases of a process share, made when first asked for: memory that is filled once, so
/// that setting up a case costs nothing and repetitions of many cases can be interleaved.
class Workbench {
 public:
  Workbench();

  /// 1 and all cores.
  std::vector<int> thread_counts() const;
  ThreadPool& pool(int threads);
  CpuAttention& attention(int threads, const std::string& kernel = "auto");
  ReadRoof& roof();
  int64_t roof_bytes() const { return roof_bytes_; }

  /// The arena of K and that of V, each arena_bytes() long. Every 16-bit word of them is, read as
  /// fp16, bf16 or half an fp32, a number between 2^-7 and 2 in magnitude, and every byte a number
  /// anyhow. Throws std::bad_alloc.
  void* k();
  void* v();
  /// Scales for int8 arenas, one for each 64 bytes: enough for every head_dim.
  float* k_scales();
  float* v_scales();
  int64_t arena_bytes() const { return arena_bytes_; }
  /// Fills both arenas again, after a case has left something else there.
  void RestoreArenas();

  /// Bytes that a case goes through, K and V together, before it comes back to where it began: 10
  /// times the last-level cache, less where memory does not suffice.
  int64_t working_set_bytes() const { return working_set_bytes_; }
  int64_t last_level_cache_bytes() const { return last_level_cache_bytes_; }

 private:
  void FillArenas();

  int cores_;
  int64_t last_level_cache_bytes_;
  int64_t working_set_bytes_;
  int64_t arena_bytes_;
  int64_t roof_bytes_;
  Buffer k_, v_;
  Buffer k_scales_, v_scales_;
  std::optional<ReadRoof> roof_;
  std::map<int, std::unique_ptr<ThreadPool>> pools_;  // idle ones sleep
  std::map<std::pair<int, std::string>, std::unique_ptr<CpuAttention>> attentions_;
};

/// Fills `bytes` bytes (a multiple of 8) with words as in the arenas.
void FillPattern(void* to, int64_t bytes, uint64_t seed);

}  // namespace kvbench::micro
