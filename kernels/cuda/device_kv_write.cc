#include "kernels/cuda/device_kv_write.h"

#include <cstddef>

#include "kernels/cuda/kernel_names.h"

namespace kvbench {

DeviceKvWrite::DeviceKvWrite(Device& device, KvType type, int32_t num_kv_heads, int32_t head_dim,
                             const KvLayout& layout, int64_t max_rows)
    : device_(device),
      kernel_(&device.kernel("kv_write/" + DeviceTypeName(type))),
      num_kv_heads_(num_kv_heads),
      head_dim_(head_dim),
      layout_(layout),
      slots_(device, max_rows, "KV slots") {}

void DeviceKvWrite::Plan(std::span<const AttentionSequence> sequences) {
  host_slots_.clear();
  for (const AttentionSequence& sequence : sequences) {
    for (int32_t query = 0; query < sequence.num_queries; ++query) {
      const int64_t position = sequence.context - sequence.num_queries + query;
      KvSlot slot;
      if (layout_.block_size > 0) {
        const int64_t block = sequence.blocks[position / layout_.block_size];
        slot.offset =
            block * layout_.block_stride + position % layout_.block_size * layout_.token_stride;
        slot.head_stride = layout_.head_stride;
      } else {
        slot.offset = sequence.base + position * layout_.token_stride;
        slot.head_stride = sequence.head_stride;
      }
      host_slots_.push_back(slot);
    }
  }
  slots_.Upload(host_slots_);
}

void DeviceKvWrite::Run(const float* k, const float* v, int64_t row_stride, void* k_pool,
                        void* v_pool) {
  const KvWriteParams params = {.k = {k},
                                .v = {v},
                                .row_stride = row_stride,
                                .k_pool = k_pool,
                                .v_pool = v_pool,
                                .slots = slots_.global(),
                                .num_kv_heads = num_kv_heads_,
                                .head_dim = head_dim_};
  Launch(device_, *kernel_, {{static_cast<int32_t>(host_slots_.size()), 1, 1}, 0}, params);
}

}  // namespace kvbench
