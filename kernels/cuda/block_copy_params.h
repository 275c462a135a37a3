#pragma once

#include <cstdint>

#include "kernels/cuda/address.h"

namespace kvbench {

/// A block and where in the same pool its copy goes.
struct alignas(8) BlockMove {
  int32_t from = 0;
  int32_t to = 0;
};

/// Copies blocks inside each pool. Grid: [moves, pools]. No target is another move's source or
/// target.
struct BlockCopyParams {
  Global<const BlockMove> moves;
  Global<uint8_t* const> pools;  ///< each layer's K and V pool
  int64_t block_bytes = 0;       ///< of a block in one pool; a multiple of 16
};

/// Gathers blocks of all pools into one staging buffer (swap out) or scatters them from there (swap
/// in). Grid: [blocks, pools].
struct BlockSwapParams {
  Global<const int32_t> blocks;  ///< block numbers
  Global<uint8_t* const> pools;  ///< [num_pools], each layer's K and V pool
  /// [blocks, num_pools, block_bytes]: on a GPU in pinned memory of the host
  Global<uint8_t> staging;
  int64_t block_bytes = 0;  ///< of a block in one pool; a multiple of 16
  int32_t num_pools = 0;
};

}  // namespace kvbench
