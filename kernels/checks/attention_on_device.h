#pragma once

#include "kernels/checks/attention_case.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/device_attention.h"

namespace kvbench {

/// A case's memory on a device.
class AttentionOnDevice {
 public:
  AttentionOnDevice(Device& device, const AttentionCase& attention_case);

  /// Runs the call with this kernel of decodes and brings the output back into the case.
  void Run(DeviceAttentionShape::Decode decode, int32_t cta_budget, int32_t cores_stages = 2);

  /// The same by the historical kernel; every sequence has one query.
  void RunVllmV1();

  const void* k() const { return k_.data(); }
  const void* v() const { return v_.data(); }
  int64_t pool_bytes() const { return k_.count(); }
  /// Kernels of the last run.
  const std::string& decode_kernel() const { return decode_kernel_; }

 private:
  DeviceAttentionShape Shape() const;
  template <typename Attention>
  void RunBy(const DeviceAttentionShape& shape);

  Device& device_;
  const AttentionCase& case_;
  DeviceArray<float> q_;
  DeviceArray<float> out_;
  DeviceArray<uint8_t> k_;
  DeviceArray<uint8_t> v_;
  std::string decode_kernel_;
};

}  // namespace kvbench
