#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/kv_write_params.h"

namespace kvbench {

/// Writes the K and V of a step's new tokens into pools on a device, layer after layer.
class DeviceKvWrite {
 public:
  /// Rows of a step at most: `max_rows`. Throws DeviceMemoryError; std::invalid_argument for
  /// another KV type than fp16 and bf16.
  DeviceKvWrite(Device& device, KvType type, int32_t num_kv_heads, int32_t head_dim,
                const KvLayout& layout, int64_t max_rows);
  /// Bytes that it allocates.
  static int64_t Bytes(int64_t max_rows) { return max_rows * static_cast<int64_t>(sizeof(KvSlot)); }

  /// Where the sequences' queries go, for all layers. Together they are rows 0 to their number.
  void Plan(std::span<const AttentionSequence> sequences);

  /// Of the plan.
  int64_t rows() const { return static_cast<int64_t>(host_slots_.size()); }

  /// One layer. @param k, v on the device, [rows, num_kv_heads, head_dim], rows row_stride floats
  /// apart
  void Run(const float* k, const float* v, int64_t row_stride, void* k_pool, void* v_pool);

 private:
  Device& device_;
  const Kernel* kernel_;
  int32_t num_kv_heads_;
  int32_t head_dim_;
  KvLayout layout_;
  std::vector<KvSlot> host_slots_;
  DeviceArray<KvSlot> slots_;
};

}  // namespace kvbench
