#pragma once

#include "kernels/cuda/attention_params.h"
#include "kernels/cuda/vocabulary.h"

/// How a kernel finds the keys of a sequence: all that it knows of a cache design.
namespace kvbench {
inline namespace KV_SPACE {

/// Keys lie token_stride elements apart: an address is one multiplication away.
class ContiguousKeys {
 public:
  static constexpr bool kTabled = false;

  KV_DEVICE ContiguousKeys(const AttentionParams& p, const DeviceSequence& sequence, int kv_head)
      : base_(sequence.base + kv_head * sequence.head_stride),
        token_stride_(p.layout.token_stride) {}
  /// Element offset of a key's first element in the pool.
  KV_DEVICE int64_t OffsetOf(int key) const { return base_ + key * token_stride_; }

 private:
  int64_t base_;
  int64_t token_stride_;
};

/// Keys lie in blocks that a table names. The table is read a tile ahead by one thread a key, and
/// what it says is kept in shared memory, so that no copy waits for it.
class PagedKeys {
 public:
  static constexpr bool kTabled = true;

  KV_DEVICE PagedKeys(const AttentionParams& p, const DeviceSequence& sequence, int kv_head)
      : blocks_(p.blocks + sequence.first_block),
        block_size_(static_cast<uint32_t>(p.layout.block_size)),
        head_offset_(kv_head * p.layout.head_stride),
        block_stride_(p.layout.block_stride),
        token_stride_(p.layout.token_stride) {}
  KV_DEVICE int64_t OffsetOf(int key) const {
    const uint32_t index = static_cast<uint32_t>(key) / block_size_;
    const uint32_t token = static_cast<uint32_t>(key) - index * block_size_;
    // 64 bits before the multiplication: pools hold more than 2^31 elements.
    const int64_t block = Load(blocks_ + index);
    return block * block_stride_ + head_offset_ + token * token_stride_;
  }

 private:
  Global<const int32_t> blocks_;
  uint32_t block_size_;
  int64_t head_offset_;
  int64_t block_stride_;
  int64_t token_stride_;
};

}  // namespace KV_SPACE
}  // namespace kvbench
