#pragma once

#include <cstdint>

#include "kernels/cuda/device.h"
#include "kernels/cuda/read_roof_params.h"

namespace kvbench {

/// Reads memory of a device as fast as a plain kernel does: what other kernels are measured
/// against.
class DeviceReadRoof {
 public:
  explicit DeviceReadRoof(Device& device);

  /// Queues one read of `bytes` at `from`, both multiples of 16.
  void Read(const void* from, int64_t bytes);

  /// The sum of all 32-bit words that the last Read has seen, modulo 2^32.
  uint32_t Sum() const;

 private:
  Device& device_;
  const Kernel& kernel_;
  int32_t ctas_;
  DeviceArray<uint32_t> sums_;  // [ctas_, kReadRoofWarps]
};

}  // namespace kvbench
