#include <numeric>
#include <random>
#include <vector>

#include "kernels/checks/kernel_check.h"
#include "kernels/cuda/block_copy_params.h"
#include "kernels/cuda/device_read_roof.h"
#include "kernels/cuda/kv_write_params.h"
#include "kernels/float16.h"

namespace kvbench {

namespace {

/// Rows of K and V of 3 heads behind Q into slots in random order; one row is padding.
double KvWriteError(Device& device, bool bf16) {
  constexpr int32_t kHeads = 3;
  constexpr int32_t kHeadDim = 64;
  constexpr int64_t kFloats = kHeads * kHeadDim;
  constexpr int64_t kRowStride = 3 * kFloats + 8;
  constexpr int64_t kTokens = 50;  // of the pools
  constexpr size_t kRows = 7;
  std::mt19937 random(1);
  std::vector<int64_t> tokens(kTokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  std::shuffle(tokens.begin(), tokens.end(), random);
  const std::vector<float> rows = NormalNumbers(kRows * kRowStride, random);
  std::vector<KvSlot> slots(kRows);  // the last one stays padding
  std::vector<uint16_t> k(kTokens * kFloats, 0xffff);
  std::vector<uint16_t> v = k;
  for (size_t row = 0; row + 1 < kRows; ++row) {
    slots[row] = {.offset = tokens[row] * kHeadDim, .head_stride = kTokens * kHeadDim};
    for (int64_t i = 0; i < kFloats; ++i) {
      const auto to = static_cast<size_t>(slots[row].offset +
                                          i / kHeadDim * slots[row].head_stride + i % kHeadDim);
      const size_t from = row * kRowStride + static_cast<size_t>(kFloats + i);
      const auto convert = bf16 ? FloatToBf16 : FloatToFp16;
      k[to] = convert(rows[from]);
      v[to] = convert(rows[from + kFloats]);
    }
  }
  const DeviceArray<float> from = Uploaded(device, rows, "rows");
  const DeviceArray<KvSlot> where = Uploaded(device, slots, "slots");
  const DeviceArray<uint16_t> k_pool =
      Uploaded(device, std::vector<uint16_t>(k.size(), 0xffff), "K");
  const DeviceArray<uint16_t> v_pool =
      Uploaded(device, std::vector<uint16_t>(v.size(), 0xffff), "V");
  Launch(device, device.kernel(bf16 ? "kv_write/bf16" : "kv_write/fp16"), {{kRows, 1, 1}, 0},
         KvWriteParams{.k = from.global() + kFloats,
                       .v = from.global() + 2 * kFloats,
                       .row_stride = kRowStride,
                       .k_pool = k_pool.data(),
                       .v_pool = v_pool.data(),
                       .slots = where.global(),
                       .num_kv_heads = kHeads,
                       .head_dim = kHeadDim});
  return Differing(Downloaded(k_pool), k) + Differing(Downloaded(v_pool), v);
}

constexpr int64_t kBlockBytes = 2048 + 16;
constexpr int64_t kBlocks = 9;
constexpr int32_t kPools = 2;

/// Two pools of random bytes, here and on the device.
struct Pools {
  explicit Pools(Device& device) {
    std::mt19937 random(2);
    for (std::vector<uint8_t>& pool : here) {
      pool.resize(kBlocks * kBlockBytes);
      for (uint8_t& byte : pool) {
        byte = static_cast<uint8_t>(random());
      }
      there.push_back(Uploaded(device, pool, "pool"));
      addresses.push_back(there.back().data());
    }
    table = Uploaded(device, addresses, "pools");
  }
  double Error() const {
    return Differing(Downloaded(there[0]), here[0]) + Differing(Downloaded(there[1]), here[1]);
  }
  uint8_t* At(size_t pool, int32_t block) { return here[pool].data() + block * kBlockBytes; }

  std::vector<uint8_t> here[kPools];
  std::vector<DeviceArray<uint8_t>> there;
  std::vector<uint8_t*> addresses;
  DeviceArray<uint8_t*> table;
};

double BlockCopyError(Device& device) {
  Pools pools(device);
  const std::vector<BlockMove> moves = {{4, 1}, {8, 0}, {4, 7}};
  for (const BlockMove& move : moves) {
    for (size_t pool = 0; pool < kPools; ++pool) {
      std::copy_n(pools.At(pool, move.from), kBlockBytes, pools.At(pool, move.to));
    }
  }
  const DeviceArray<BlockMove> on_device = Uploaded(device, moves, "moves");
  Launch(
      device, device.kernel("block_copy"), {{static_cast<int32_t>(moves.size()), kPools, 1}, 0},
      BlockCopyParams{
          .moves = on_device.global(), .pools = {pools.table.data()}, .block_bytes = kBlockBytes});
  return pools.Error();
}

/// Three blocks out to the staging buffer, and from there over three others.
double BlockSwapError(Device& device) {
  Pools pools(device);
  const std::vector<int32_t> out = {6, 2, 8};
  const std::vector<int32_t> in = {0, 7, 3};
  std::vector<uint8_t> staged;
  for (size_t i = 0; i < out.size(); ++i) {
    for (size_t pool = 0; pool < kPools; ++pool) {
      staged.insert(staged.end(), pools.At(pool, out[i]), pools.At(pool, out[i]) + kBlockBytes);
      std::copy_n(pools.At(pool, out[i]), kBlockBytes, pools.At(pool, in[i]));
    }
  }
  const DeviceArray<uint8_t> staging(device, static_cast<int64_t>(staged.size()), "staging");
  for (const char* const name : {"block_gather", "block_scatter"}) {
    const DeviceArray<int32_t> blocks =
        Uploaded(device, name == std::string("block_gather") ? out : in, "blocks");
    Launch(device, device.kernel(name), {{static_cast<int32_t>(out.size()), kPools, 1}, 0},
           BlockSwapParams{.blocks = blocks.global(),
                           .pools = {pools.table.data()},
                           .staging = staging.global(),
                           .block_bytes = kBlockBytes,
                           .num_pools = kPools});
    device.Synchronize();
  }
  return Differing(Downloaded(staging), staged) + pools.Error();
}

double ReadRoofError(Device& device) {
  std::mt19937 random(3);
  std::vector<Vector16> vectors(1237);
  uint32_t checksum = 0;
  for (Vector16& vector : vectors) {
    for (uint32_t& word : vector.words) {
      word = static_cast<uint32_t>(random());
      checksum ^= word;
    }
  }
  DeviceReadRoof roof(device, static_cast<int64_t>(vectors.size() * sizeof(Vector16)));
  roof.data().Upload(vectors);
  roof.Measure();
  return roof.Checksum() == checksum ? 0 : 1;
}

}  // namespace

std::vector<KernelCheck> MemoryChecks() {
  return {{"kv_write/fp16", 0, [](Device& device) { return KvWriteError(device, false); }},
          {"kv_write/bf16", 0, [](Device& device) { return KvWriteError(device, true); }},
          {"block_copy", 0, BlockCopyError},
          {"block_gather and block_scatter", 0, BlockSwapError},
          {"read_roof", 0, ReadRoofError}};
}

}  // namespace kvbench
