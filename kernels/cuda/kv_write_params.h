#pragma once

#include <cstdint>

#include "kernels/cuda/address.h"

namespace kvbench {

/// Where a new token goes in the pools of a layer; the same in K's and in V's.
struct alignas(16) KvSlot {
  int64_t offset = -1;      ///< elements, of KV head 0; below 0: a row of padding, not written
  int64_t head_stride = 0;  ///< elements from one KV head to the next
};

/// Converts rows of new K and V and puts them into a layer's pools. Grid: [rows].
/// Rows begin at 16-byte boundaries: row_stride is a multiple of 4.
struct KvWriteParams {
  Global<const float> k;       ///< [rows, num_kv_heads, head_dim], rows row_stride floats apart
  Global<const float> v;       ///< likewise
  int64_t row_stride = 0;      ///< floats
  void* k_pool = nullptr;      ///< of the kernel's KV type
  void* v_pool = nullptr;      ///< likewise
  Global<const KvSlot> slots;  ///< [rows]; offsets and strides are multiples of 8
  int32_t num_kv_heads = 0;
  int32_t head_dim = 0;  ///< a multiple of 8
};

}  // namespace kvbench
