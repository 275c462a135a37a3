#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/attention.h"
#include "kernels/kv_layout.h"

namespace kvbench::gpu {

/// One point of a sweep: a step of `batch` decodes, all with the same context, fp16 KV.
struct DecodeCell {
  std::string attention = "MHA";
  int32_t num_heads = 32;
  int32_t num_kv_heads = 32;
  int32_t head_dim = 128;
  int32_t block_size = 0;  ///< tokens; 0: contiguous
  int32_t context = 0;     ///< tokens
  int32_t batch = 0;
  bool vllm_v1 = false;  ///< by the historical kernel

  /// "GQA-4 paged-16 8192 x 32", context x batch.
  std::string Name() const;
  /// "contiguous", "paged-16", in front of it "vllm_v1 " for that kernel.
  std::string LayoutName() const;
  /// Of K, or of V, with what a contiguous pool has to spare.
  int64_t PoolBytes() const;
  /// What attention has to read at least: AttentionKvBytes.
  int64_t KvBytes() const;
};

/// A cell's sequences in their pools. Blocks are shuffled over the whole pool.
class PlacedCell {
 public:
  PlacedCell(const DecodeCell& cell, std::mt19937_64& random);

  const KvLayout& layout() const { return layout_; }
  const std::vector<AttentionSequence>& sequences() const { return sequences_; }

 private:
  KvLayout layout_;
  std::vector<int32_t> blocks_;  // of all sequences
  std::vector<AttentionSequence> sequences_;
};

/// Which part of the grid: the first 40 cells are what a minute is best spent on, the others fill
/// the grid up to 160. kSmall is a few cells of a kilobyte, to see that everything works.
enum class GridPart { kFirst, kRest, kAll, kSmall };

/// MHA, GQA-4, GQA-8, MQA x contiguous and paged 1, 16, 64 x ten pairs of context and batch.
std::vector<DecodeCell> DecodeGrid(GridPart part);

/// Figure 18a of the vLLM paper, with its heads (OPT-13B's), contexts further out and both caches
/// under both kernels: contiguous, paged-16, each by vllm_v1 and by ours.
std::vector<DecodeCell> Fig18aGrid(bool small);

}  // namespace kvbench::gpu
