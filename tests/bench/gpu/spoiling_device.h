#pragma once

#include <string>

#include "kernels/checks/forwarding_device.h"
#include "kernels/cuda/attention_params.h"

namespace kvbench {

/// A device whose attention kernels of one name come out wrong in one element.
class SpoilingDevice final : public ForwardingDevice {
 public:
  SpoilingDevice(Device& to, std::string kernel)
      : ForwardingDevice(to), kernel_(std::move(kernel)) {}

  void Launch(const Kernel& kernel, const LaunchShape& shape, const void* params) override {
    ForwardingDevice::Launch(kernel, shape, params);
    if (kernel.name == kernel_ && shape.grid[0] > 0) {
      const auto& attention = *static_cast<const AttentionParams*>(params);
      // The first element of the last row: what both conformance and decode look at.
      const int64_t rows = shape.grid[0];
      const int64_t width = attention.num_heads;
      const auto head_dim = static_cast<int64_t>(attention.q_row_stride / width);
      float value = 0;
      float* const at = attention.out.address + (rows * width - 1) * head_dim;
      CopyToHost(&value, at, sizeof value);
      value += 1;
      CopyToDevice(at, &value, sizeof value);
    }
  }

 private:
  std::string kernel_;
};

}  // namespace kvbench
