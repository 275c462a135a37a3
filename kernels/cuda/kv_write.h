#pragma once

#include "kernels/cuda/kernel_table.h"
#include "kernels/cuda/kv_write_params.h"
#include "kernels/cuda/vectors.h"

namespace kvbench {
inline namespace KV_SPACE {

/// One CTA a row. A warp takes 64 chunks of four floats: lane i loads chunks i and 32 + i, so that
/// loads are whole sectors. A store takes two chunks that lie side by side, so neighbouring lanes
/// swap one: even lanes store of the first 32 chunks, odd ones of the others, 16 bytes each.
template <typename T>
struct KvWrite {
  using Params = KvWriteParams;
  static constexpr int kThreads = 128;
  static constexpr int kCtasPerSm = 8;

  KV_DEVICE static void Run(const Params& p) {
    const KvSlot slot = Load(p.slots + CtaX());
    if (slot.offset < 0) {
      return;
    }
    const int32_t floats = p.num_kv_heads * p.head_dim;
    const int32_t chunks = 2 * (floats / 4);  // of K, then of V; both even
    const bool odd = LaneId() % 2 != 0;
    for (int32_t first = WarpId() * 2 * kWarpSize; first < chunks; first += 2 * kThreads) {
      const Vector8 low = LoadChunk(p, first + LaneId(), chunks);
      const Vector8 high = LoadChunk(p, first + kWarpSize + LaneId(), chunks);
      const Vector8& given = odd ? low : high;
      const Vector8& kept = odd ? high : low;
      const Vector8 received = {{ShuffleXor(given.words[0], 1), ShuffleXor(given.words[1], 1)}};
      const Vector8& left = odd ? received : kept;
      const Vector8& right = odd ? kept : received;
      // The left one of the two chunks that this lane stores.
      const int32_t chunk = first + (odd ? kWarpSize + LaneId() - 1 : LaneId());
      if (chunk < chunks) {
        const bool is_v = 4 * chunk >= floats;
        const int32_t at = 4 * chunk - (is_v ? floats : 0);
        const Global<T> pool{static_cast<T*>(is_v ? p.v_pool : p.k_pool)};
        Store16(pool + (slot.offset + at / p.head_dim * slot.head_stride + at % p.head_dim),
                {{left.words[0], left.words[1], right.words[0], right.words[1]}});
      }
    }
  }

 private:
  /// Four floats of the CTA's row of K, or from `floats` on of V, converted.
  KV_DEVICE static Vector8 LoadChunk(const Params& p, int32_t chunk, int32_t chunks) {
    if (chunk >= chunks) {
      return {};
    }
    const int32_t floats = p.num_kv_heads * p.head_dim;
    const int64_t row = CtaX() * p.row_stride;
    const int32_t at = 4 * chunk;
    float values[4];
    LoadFloats(at < floats ? p.k + (row + at) : p.v + (row + at - floats), values);
    return PackFour<T>(values);
  }
};

/// "kv_write/fp16", "kv_write/bf16".
void AddKvWriteKernels(KernelTable& table);

}  // namespace KV_SPACE
}  // namespace kvbench
