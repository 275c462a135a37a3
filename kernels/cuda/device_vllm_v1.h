#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/attention_plan.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/device_attention.h"

namespace kvbench {

/// Decode attention of a step by the historical kernel (vllm_v1.h), called like DeviceAttention.
class DeviceVllmV1 {
 public:
  /// `shape.decode`, `cores_stages` and `cta_budget` mean nothing here. Throws std::logic_error for
  /// what has no kernel, std::invalid_argument for a KV type without any.
  DeviceVllmV1(Device& device, const DeviceAttentionShape& shape);

  /// Uploads what the kernel needs to know of a step. Throws std::invalid_argument where a sequence
  /// has more than one query, or a context whose logits are more than `kMaxContext`.
  void Plan(std::span<const AttentionSequence> sequences);

  /// As DeviceAttention's.
  void Run(const float* q, int64_t q_row_stride, float* out, const void* k, const void* v);

  const std::string& decode_kernel() const { return kernel_.name; }

  /// Keys whose logits fit the 48 KiB of shared memory that a CTA has unless it asks for more.
  static constexpr int32_t kMaxContext = 11000;

 private:
  Device& device_;
  DeviceAttentionShape shape_;
  const Kernel& kernel_;
  int32_t longest_ = 0;
  std::vector<AttentionSequence> placed_;
  DeviceAttentionPlan plan_;
  DeviceArray<DeviceSequence> sequences_;
  DeviceArray<DeviceItem> items_;
  DeviceArray<int32_t> blocks_;
};

}  // namespace kvbench
