#pragma once

#include <cstdint>
#include <vector>

#include "bench/executors/kv_placement.h"
#include "kernels/cuda/device.h"

namespace kvbench {

/// The bytes of a KV cache in a device's memory, laid out as KvPools lays them out.
class DevicePools : public KvPlacement {
 public:
  /// Throws DeviceMemoryError.
  DevicePools(Device& device, const ModelShape& model, KvType type, const KvCache& cache);

  /// Bytes that such pools allocate on a device that rounds each array up to whole units.
  static int64_t Bytes(const KvPlacement& placement, int64_t num_layers, int64_t unit) {
    return 2 * num_layers * ((placement.array_bytes() + unit - 1) / unit * unit);
  }

  void* k(int64_t layer) const { return arrays_[static_cast<size_t>(2 * layer)].data(); }
  void* v(int64_t layer) const { return arrays_[static_cast<size_t>(2 * layer + 1)].data(); }
  int64_t bytes() const { return static_cast<int64_t>(arrays_.size()) * array_bytes(); }

 private:
  std::vector<DeviceArray<uint8_t>> arrays_;  // K of layer 0, V of layer 0, K of layer 1, ...
};

}  // namespace kvbench
