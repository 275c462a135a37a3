#pragma once

#include <cstdint>
#include <vector>

#include "bench/executors/device_pools.h"
#include "cache/operation.h"
#include "kernels/cpu/block_copy.h"
#include "kernels/cuda/block_copy_params.h"
#include "kernels/cuda/device.h"

namespace kvbench {

/// Does a cache's operations in a device's pools, one launch for each.
class DeviceCopies {
 public:
  /// @param max_tokens of an operation. `device` and `pools` must outlive it. Throws
  /// DeviceMemoryError.
  DeviceCopies(Device& device, const DevicePools& pools, int64_t num_layers, int64_t max_tokens);

  /// Bytes that it allocates on a device that rounds each array up to whole units.
  static int64_t Bytes(const KvPlacement& placement, int64_t num_layers, int64_t max_tokens,
                       int64_t unit);

  /// Queues the operation.
  void Run(const Operation& operation);

 private:
  Device& device_;
  const DevicePools& pools_;
  const Kernel& kernel_;
  DeviceArray<uint8_t*> arrays_;  // [2 * layers]
  DeviceArray<BlockMove> moves_;  // of one operation
  std::vector<BlockPair> pairs_;
  std::vector<BlockMove> host_moves_;
};

}  // namespace kvbench
