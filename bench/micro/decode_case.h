#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/attention.h"
#include "kernels/cpu/buffer.h"
#include "kernels/kv_layout.h"

namespace kvbench::micro {

/// A decode step's KV on one layer: every sequence has one query and `context` keys.
struct DecodeShape {
  int32_t block_size = 0;  ///< 0: contiguous
  HeadStride head_stride = HeadStride::kPadded;
  bool shuffled = true;  ///< block order, as after a long run
  KvType kv_type = KvType::kFp16;
  int32_t num_kv_heads = 8;
  int32_t group = 1;
  int32_t head_dim = 64;
  int32_t context = 1024;
  int32_t batch = 1;
};

/// The memory of a decode step, filled with small numbers.
class DecodeCase {
 public:
  explicit DecodeCase(const DecodeShape& shape);

  const AttentionCall& attention() const { return attention_; }
  const KvWriteCall& write() const { return write_; }
  const std::vector<AttentionSequence>& sequences() const { return sequences_; }

 private:
  int64_t PlaceSequences(const DecodeShape& shape);

  AttentionCall attention_;
  KvWriteCall write_;
  std::vector<AttentionSequence> sequences_;
  std::vector<int32_t> blocks_;
  Buffer k_, v_, q_, out_;
};

}  // namespace kvbench::micro
