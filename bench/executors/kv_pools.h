#pragma once

#include <cstdint>
#include <vector>

#include "bench/executors/kv_placement.h"
#include "kernels/cpu/buffer.h"
#include "kernels/cpu/thread_pool.h"

namespace kvbench {

/// The bytes of a KV cache in main memory: one K and one V array for each layer, laid out for the
/// cache's design, and touched, so that no page is missing when the clock starts.
class KvPools : public KvPlacement {
 public:
  /// Throws std::bad_alloc.
  KvPools(const ModelShape& model, KvType type, const KvCache& cache);

  void* k(int64_t layer) { return arrays_[static_cast<size_t>(2 * layer)].as<void>(); }
  void* v(int64_t layer) { return arrays_[static_cast<size_t>(2 * layer + 1)].as<void>(); }
  /// Null for types without scales.
  float* k_scales(int64_t layer) { return ScalesAt(2 * layer); }
  float* v_scales(int64_t layer) { return ScalesAt(2 * layer + 1); }
  int64_t bytes() const;

  /// Does a cache's operation, all threads together.
  void Copy(const Operation& operation, ThreadPool& pool);

  /// Appends K's and V's row of head dim elements that begins at `element`, and their scales.
  void AppendRow(int64_t layer, int64_t element, std::vector<uint8_t>& bytes) const;

 private:
  float* ScalesAt(int64_t array) {
    return scales_.empty() ? nullptr : scales_[static_cast<size_t>(array)].as<float>();
  }

  std::vector<Buffer> arrays_;    // K of layer 0, V of layer 0, K of layer 1, ...
  std::vector<Buffer> scales_;    // in the same order
  std::vector<BlockPair> pairs_;  // of the operation that is being done
  std::vector<void*> pointers_;
};

}  // namespace kvbench
