#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/engine/step_batch.h"
#include "cache/kv_cache.h"
#include "cache/operation.h"
#include "kernels/attention.h"
#include "kernels/cpu/block_copy.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

/// A KV dtype as the kernels name it. Precondition: one that they have (CheckKernels of the
/// executors).
KvType KvTypeOf(Dtype dtype);

/// Where the slots of a cache lie in each layer's K and V array, whatever memory these are in.
class KvPlacement {
 public:
  KvPlacement(const ModelShape& model, KvType type, const KvCache& cache);

  const KvLayout& layout() const { return layout_; }
  KvType type() const { return type_; }
  int32_t num_kv_heads() const { return num_kv_heads_; }
  int32_t head_dim() const { return head_dim_; }
  /// Elements of K (or V) of one layer: at least capacity_slots x KV heads x head dim; contiguous
  /// designs have one spare token for each unit, so that heads do not lie a power of two apart.
  int64_t array_elements() const { return array_elements_; }
  /// Bytes of K (or V) of one layer, without the scales of kInt8.
  int64_t array_bytes() const { return array_elements_ * KvTypeBytes(type_); }
  /// Bytes of all layers' K and V, scales included.
  int64_t total_bytes() const;

  /// Where the batch's sequences lie, one for each entry; row r of the step is a token of the entry
  /// whose [first_query, first_query + num_queries) holds r.
  void Place(const StepBatch& batch, const KvCache& cache,
             std::vector<AttentionSequence>& sequences) const;
  /// One sequence on slots that no cache has given out: used to warm up.
  AttentionSequence Place(const SlotView& slots, int64_t first_query, int64_t num_queries,
                          int64_t context) const;
  AttentionSequence Place(const SlotRange& range) const;

  /// The copies that an operation asks for in each K and V array, in pieces of copy_elements(): a
  /// paged block, or as many rows of a head as kContiguousUnit slots and their spare one.
  void ListCopies(const Operation& operation, std::vector<BlockPair>& pairs) const;
  int64_t copy_elements() const;
  /// Pieces at most of an operation of so many tokens.
  int64_t MostCopies(int64_t tokens) const;

 private:
  KvType type_;
  int64_t num_layers_;
  int32_t num_kv_heads_;
  int32_t head_dim_;
  KvLayout layout_;
  int64_t array_elements_ = 0;
};

/// Blocks that the sequences' contexts lie in; 0 for contiguous designs.
int64_t BlocksOf(std::span<const AttentionSequence> sequences, int32_t block_size);

}  // namespace kvbench
