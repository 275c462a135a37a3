#include "bench/gpu/kv_arena.h"

#include <random>

#include "kernels/cuda/block_copy_params.h"
#include "kernels/float16.h"

namespace kvbench::gpu {

int64_t KvArena::BytesFor(int64_t bytes, int64_t tile_bytes) {
  return (bytes + tile_bytes - 1) / tile_bytes * tile_bytes;
}

KvArena::KvArena(Device& device, int64_t bytes, int64_t tile_bytes)
    : tile_(static_cast<size_t>(tile_bytes / 2)),
      memory_(device, BytesFor(bytes, tile_bytes), "the KV arena") {
  std::mt19937 random(20230620);
  std::normal_distribution<float> normal;
  for (uint16_t& element : tile_) {
    element = FloatToFp16(normal(random));
  }
  device.CopyToDevice(memory_.data(), tile_.data(), static_cast<size_t>(tile_bytes));
  // The first tile over all others.
  std::vector<BlockMove> moves;
  for (int32_t tile = 1; tile < memory_.count() / tile_bytes; ++tile) {
    moves.push_back({.from = 0, .to = tile});
  }
  DeviceArray<BlockMove> moves_there(device, static_cast<int64_t>(moves.size()) + 1, "moves");
  moves_there.Upload(moves);
  uint8_t* const pool = memory_.data();
  DeviceArray<uint8_t*> pools(device, 1, "the arena's address");
  pools.Upload(std::span(&pool, 1));
  Launch(device, device.kernel("block_copy"), {{static_cast<int32_t>(moves.size()), 1, 1}, 0},
         BlockCopyParams{
             .moves = moves_there.global(), .pools = {pools.data()}, .block_bytes = tile_bytes});
  device.Synchronize();
}

double KvArena::ElementAt(int64_t byte_offset) const {
  return static_cast<double>(
      Fp16ToFloat(tile_[static_cast<size_t>(byte_offset / 2) % tile_.size()]));
}

}  // namespace kvbench::gpu
