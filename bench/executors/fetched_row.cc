#include "bench/executors/fetched_row.h"

#include <cstddef>

namespace kvbench {

void FetchedRow::Fetch(Device& device, const AttentionCall& on_device, int64_t sequence,
                       int32_t query) {
  const AttentionSequence& from = on_device.sequences[static_cast<size_t>(sequence)];
  const int64_t width = int64_t{on_device.num_heads} * on_device.head_dim;
  const int64_t row = from.first_query + query;
  const int64_t q_stride = on_device.q_row_stride != 0 ? on_device.q_row_stride : width;
  q_.resize(static_cast<size_t>(width));
  out_.resize(static_cast<size_t>(width));
  device.CopyToHost(q_.data(), on_device.q + row * q_stride, q_.size() * sizeof(float));
  device.CopyToHost(out_.data(), on_device.out + row * width, out_.size() * sizeof(float));

  AttentionSequence to;
  to.num_queries = 1;
  to.context = from.context - from.num_queries + query + 1;
  sequence_.assign(1, to);
  if (on_device.layout.block_size > 0) {
    FetchBlocks(device, on_device, from);
  } else {
    FetchChunk(device, on_device, from);
  }
  call_ = on_device;
  call_.q = q_.data();
  call_.q_row_stride = 0;
  call_.out = out_.data();
  call_.k = k_.data();
  call_.v = v_.data();
  call_.sequences = sequence_;
}

void FetchedRow::FetchBlocks(Device& device, const AttentionCall& on_device,
                             const AttentionSequence& from) {
  const int32_t block_size = on_device.layout.block_size;
  const int32_t blocks = (sequence_[0].context + block_size - 1) / block_size;
  const auto bytes =
      static_cast<size_t>(on_device.layout.block_stride * KvTypeBytes(on_device.kv_type));
  k_.resize(static_cast<size_t>(blocks) * bytes);
  v_.resize(k_.size());
  blocks_.clear();
  for (int32_t first = 0; first < blocks;) {
    // Blocks that lie side by side come in one copy.
    int32_t end = first + 1;
    while (end < blocks && from.blocks[end] == from.blocks[end - 1] + 1) {
      ++end;
    }
    const size_t at = static_cast<size_t>(from.blocks[first]) * bytes;
    const size_t to = static_cast<size_t>(first) * bytes;
    const size_t count = static_cast<size_t>(end - first) * bytes;
    device.CopyToHost(k_.data() + to, static_cast<const uint8_t*>(on_device.k) + at, count);
    device.CopyToHost(v_.data() + to, static_cast<const uint8_t*>(on_device.v) + at, count);
    first = end;
  }
  for (int32_t block = 0; block < blocks; ++block) {
    blocks_.push_back(block);
  }
  sequence_[0].blocks = blocks_.data();
}

void FetchedRow::FetchChunk(Device& device, const AttentionCall& on_device,
                            const AttentionSequence& from) {
  const int64_t each = KvTypeBytes(on_device.kv_type);
  const int64_t elements = sequence_[0].context * on_device.layout.token_stride;
  const auto bytes = static_cast<size_t>(elements * each);
  k_.resize(static_cast<size_t>(on_device.num_kv_heads) * bytes);
  v_.resize(k_.size());
  for (int32_t head = 0; head < on_device.num_kv_heads; ++head) {
    const int64_t at = (from.base + head * from.head_stride) * each;
    const size_t to = static_cast<size_t>(head) * bytes;
    device.CopyToHost(k_.data() + to, static_cast<const uint8_t*>(on_device.k) + at, bytes);
    device.CopyToHost(v_.data() + to, static_cast<const uint8_t*>(on_device.v) + at, bytes);
  }
  sequence_[0].head_stride = elements;
}

}  // namespace kvbench
