#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/attention.h"

namespace kvbench {

/// Tokens that lie `token_stride` elements apart, from an element offset that is good for KV head
/// 0.
struct KvRun {
  int64_t offset = 0;
  int32_t tokens = 0;
};

/// Where a sequence's tokens lie. It is all that a kernel knows of a cache design: what paging
/// costs is what RunAt does once for a block and, in a contiguous cache, hardly ever.
class KvAccessor {
 public:
  KvAccessor(const KvLayout& layout, const AttentionSequence& sequence)
      : blocks_(layout.block_size > 0 ? sequence.blocks : nullptr),
        run_tokens_(layout.block_size > 0 ? layout.block_size : kEndless),
        base_(sequence.base),
        block_stride_(layout.block_stride),
        head_stride_(layout.block_size > 0 ? layout.head_stride : sequence.head_stride),
        token_stride_(layout.token_stride) {}

  int64_t head_stride() const { return head_stride_; }
  int64_t token_stride() const { return token_stride_; }

  /// Tokens of a run that begins at a multiple of it; kEndless where all tokens are one run.
  int32_t run_tokens() const { return run_tokens_; }
  static constexpr int32_t kEndless = 1 << 30;

  /// From that token on to the end of its run.
  KvRun RunAt(int32_t key) const {
    if (blocks_ == nullptr) return {base_ + key * token_stride_, kEndless};
    const int32_t index = key / run_tokens_;
    const int32_t token = key - index * run_tokens_;
    // 64 bits before the multiplication: pools hold more than 2^31 elements.
    const int64_t block = blocks_[index];
    return {block * block_stride_ + token * token_stride_, run_tokens_ - token};
  }

 private:
  const int32_t* blocks_;
  int32_t run_tokens_;
  int64_t base_;
  int64_t block_stride_;
  int64_t head_stride_;
  int64_t token_stride_;
};

/// Element offsets of keys for KV head 0, and of their scales where a pool has them.
struct KeyList {
  /// Lists [first_key, first_key + keys), at most kMost.
  /// @param scale_dim elements that a scale is for, head_dim; 0: there are none
  template <class Accessor>
  void Fill(const Accessor& kv, int32_t first_key, int32_t keys, int32_t scale_dim) {
    const int64_t step = kv.token_stride();
    const int64_t scale_step = scale_dim > 0 ? step / scale_dim : 0;
    for (int32_t done = 0; done < keys;) {
      const KvRun run = kv.RunAt(first_key + done);
      const int32_t end = done + std::min(run.tokens, keys - done);
      if (scale_dim > 0) {
        int64_t scale_row = run.offset / scale_dim;
        for (int32_t i = done; i < end; ++i, scale_row += scale_step) scale_rows[i] = scale_row;
      }
      for (int64_t offset = run.offset; done < end; ++done, offset += step) offsets[done] = offset;
    }
  }

  static constexpr int32_t kMost = 64;
  int64_t offsets[kMost];
  int64_t scale_rows[kMost];
};

}  // namespace kvbench
