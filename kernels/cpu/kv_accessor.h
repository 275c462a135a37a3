#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/attention.h"

namespace kvbench {

/// Tokens that lie `token_stride` elements apart, from an element offset that is good for KV head
/// 0.
struct KvRun {
  int64_t offset = 0;
  int32_t tokens = 0;
};

/// The two ways to find a sequence's tokens. They are all that a kernel body knows of a cache
/// design: what paging costs is the difference between them.
class ContiguousKv {
 public:
  ContiguousKv(const KvLayout& layout, const AttentionSequence& sequence)
      : base_(sequence.base),
        head_stride_(sequence.head_stride),
        token_stride_(layout.token_stride) {}

  int64_t head_stride() const { return head_stride_; }
  int64_t token_stride() const { return token_stride_; }
  KvRun RunAt(int32_t key) const {
    return {base_ + key * token_stride_, std::numeric_limits<int32_t>::max()};
  }

 private:
  int64_t base_;
  int64_t head_stride_;
  int64_t token_stride_;
};

class PagedKv {
 public:
  PagedKv(const KvLayout& layout, const AttentionSequence& sequence)
      : layout_(layout), blocks_(sequence.blocks) {}

  int64_t head_stride() const { return layout_.head_stride; }
  int64_t token_stride() const { return layout_.token_stride; }
  KvRun RunAt(int32_t key) const {
    const int32_t index = key / layout_.block_size;
    const int32_t token = key - index * layout_.block_size;
    // 64 bits before the multiplication: pools hold more than 2^31 elements.
    const int64_t block = blocks_[index];
    return {block * layout_.block_stride + token * layout_.token_stride,
            layout_.block_size - token};
  }

 private:
  KvLayout layout_;
  const int32_t* blocks_;
};

/// Where the scales of a pool of kInt8 are: each row's element offset, divided by head_dim.
inline void ListScales(const int64_t* offsets, int32_t keys, int32_t head_dim, int64_t* rows) {
  for (int32_t i = 0; i < keys; ++i) rows[i] = offsets[i] / head_dim;
}

/// Writes the element offset of each key of [first_key, first_key + keys), for KV head 0.
template <typename Accessor>
void ListKeys(const Accessor& kv, int32_t first_key, int32_t keys, int64_t* offsets) {
  for (int32_t done = 0; done < keys;) {
    const KvRun run = kv.RunAt(first_key + done);
    const int32_t tokens = std::min(run.tokens, keys - done);
    for (int32_t i = 0; i < tokens; ++i) offsets[done + i] = run.offset + i * kv.token_stride();
    done += tokens;
  }
}

}  // namespace kvbench
