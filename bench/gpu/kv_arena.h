#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/device.h"

namespace kvbench::gpu {

/// One allocation that the pools of all cells lie in: fp16 normals, which repeat in tiles. Only a
/// tile crosses the bus. A tile is no power of two long, so that neither sequences nor blocks of
/// the usual sizes are equal.
class KvArena {
 public:
  static constexpr int64_t kTileBytes = 257 * 16384;

  /// At least `bytes`, a multiple of 16. Throws DeviceMemoryError.
  KvArena(Device& device, int64_t bytes, int64_t tile_bytes = kTileBytes);

  const uint8_t* data() const { return memory_.data(); }
  int64_t bytes() const { return memory_.count(); }
  /// What the arena takes of memory for so many bytes.
  static int64_t BytesFor(int64_t bytes, int64_t tile_bytes = kTileBytes);

  /// The element at a byte offset, exactly.
  double ElementAt(int64_t byte_offset) const;

 private:
  std::vector<uint16_t> tile_;
  DeviceArray<uint8_t> memory_;
};

}  // namespace kvbench::gpu
