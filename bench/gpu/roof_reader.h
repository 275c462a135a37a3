#pragma once

#include <cstdint>

#include "kernels/cuda/device.h"
#include "kernels/cuda/read_roof_params.h"

namespace kvbench::gpu {

/// Queues the read roof's kernel over memory that is there already, between other work; what
/// DeviceReadRoof measures alone.
class RoofReader {
 public:
  explicit RoofReader(Device& device)
      : device_(device),
        kernel_(device.kernel("read_roof")),
        ctas_(device.properties().multiprocessors * device.ResidentCtas(kernel_, 0)),
        sums_(device, int64_t{ctas_} * kReadRoofThreads, "read roof sums") {}

  /// @param bytes a multiple of 16, as the address
  void Read(const void* from, int64_t bytes) {
    Launch(device_, kernel_, {{ctas_, 1, 1}, 0},
           ReadRoofParams{.data = {static_cast<const Vector16*>(from)},
                          .vectors = bytes / static_cast<int64_t>(sizeof(Vector16)),
                          .sums = sums_.global()});
  }

 private:
  Device& device_;
  const Kernel& kernel_;
  int32_t ctas_;
  DeviceArray<uint32_t> sums_;
};

}  // namespace kvbench::gpu
