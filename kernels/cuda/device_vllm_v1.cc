#include "kernels/cuda/device_vllm_v1.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/cuda/kernel_names.h"
#include "kernels/cuda/vllm_v1_params.h"

namespace kvbench {

DeviceVllmV1::DeviceVllmV1(Device& device, const DeviceAttentionShape& shape)
    : device_(device),
      shape_(shape),
      kernel_(device.kernel("vllm_v1/" + DeviceTypeName(shape.kv_type) + "/" +
                            std::to_string(shape.head_dim))) {}

void DeviceVllmV1::Plan(std::span<const AttentionSequence> sequences) {
  longest_ = 0;
  for (const AttentionSequence& sequence : sequences) {
    if (sequence.num_queries != 1 || sequence.context > kMaxContext) {
      throw std::invalid_argument("vllm_v1 takes decodes of at most " +
                                  std::to_string(kMaxContext) + " keys");
    }
    longest_ = std::max(longest_, sequence.context);
  }
  // The kernel has one way to a row: by the sequence's own head stride, paged or not.
  placed_.assign(sequences.begin(), sequences.end());
  if (shape_.layout.block_size > 0) {
    for (AttentionSequence& sequence : placed_) {
      sequence.head_stride = shape_.layout.head_stride;
    }
  }
  // A budget of one CTA leaves every context whole, as this kernel wants it.
  plan_.Build(placed_, {.num_heads = shape_.num_heads,
                        .num_kv_heads = shape_.num_kv_heads,
                        .paged = shape_.layout.block_size > 0,
                        .block_size = shape_.layout.block_size,
                        .cta_budget = 1});
  const auto upload = [&](auto& array, auto values, const char* name) {
    array.Reserve(device_, static_cast<int64_t>(values.size()), name);
    array.Upload(values);
  };
  upload(sequences_, plan_.sequences(), "attention sequences");
  upload(items_, plan_.items(), "attention items");
  upload(blocks_, plan_.blocks(), "block tables");
}

void DeviceVllmV1::Run(const float* q, int64_t q_row_stride, float* out, const void* k,
                       const void* v) {
  VllmV1Params params = ParamsOf(shape_, q, q_row_stride, out, k, v);
  params.blocks = blocks_.global();
  params.sequences = sequences_.global();
  params.items = items_.global();
  Launch(device_, kernel_,
         {{plan_.decode_items(), shape_.num_heads, 1},
          static_cast<int32_t>(VllmV1SharedBytes(longest_, shape_.head_dim))},
         params);
}

}  // namespace kvbench
