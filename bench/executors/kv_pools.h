#pragma once

#include <cstdint>
#include <vector>

#include "bench/engine/step_batch.h"
#include "cache/kv_cache.h"
#include "kernels/attention.h"
#include "kernels/cpu/buffer.h"
#include "workloads/model_shape.h"

namespace kvbench {

/// A KV dtype as the kernels name it. Precondition: one that they have (CpuExecutor::CheckKernels).
KvType KvTypeOf(Dtype dtype);

/// The bytes of a KV cache in main memory: one K and one V array for each layer, laid out for the
/// cache's design, and touched, so that no page is missing when the clock starts.
class KvPools {
 public:
  /// Throws std::bad_alloc.
  KvPools(const ModelShape& model, KvType type, const KvCache& cache);

  /// Bytes of all arrays: at least capacity_slots x bytes per token; contiguous designs have one
  /// spare token for each unit, so that heads do not lie a power of two apart.
  static int64_t Bytes(const ModelShape& model, KvType type, const KvCache& cache);

  /// Where the batch's sequences lie, one for each entry; row r of the step is a token of the entry
  /// whose [first_query, first_query + num_queries) holds r.
  void Place(const StepBatch& batch, const KvCache& cache,
             std::vector<AttentionSequence>& sequences) const;
  /// One sequence on slots that no cache has given out: used to warm up.
  AttentionSequence Place(const SlotView& slots, int64_t first_query, int64_t num_queries,
                          int64_t context) const;

  const KvLayout& layout() const { return layout_; }
  KvType type() const { return type_; }
  void* k(int64_t layer) { return arrays_[static_cast<size_t>(2 * layer)].as<void>(); }
  void* v(int64_t layer) { return arrays_[static_cast<size_t>(2 * layer + 1)].as<void>(); }
  /// Null for types without scales.
  float* k_scales(int64_t layer) { return ScalesAt(2 * layer); }
  float* v_scales(int64_t layer) { return ScalesAt(2 * layer + 1); }
  int64_t bytes() const;

 private:
  float* ScalesAt(int64_t array) {
    return scales_.empty() ? nullptr : scales_[static_cast<size_t>(array)].as<float>();
  }

  KvType type_;
  int32_t num_kv_heads_;
  int32_t head_dim_;
  KvLayout layout_;
  std::vector<Buffer> arrays_;  // K of layer 0, V of layer 0, K of layer 1, ...
  std::vector<Buffer> scales_;  // in the same order
};

}  // namespace kvbench
