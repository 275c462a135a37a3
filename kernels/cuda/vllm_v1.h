#pragma once

#include "kernels/cuda/kernel_table.h"
#include "kernels/cuda/reductions.h"
#include "kernels/cuda/vectors.h"
#include "kernels/cuda/vllm_v1_params.h"

namespace kvbench {
inline namespace KV_SPACE {

/// Decode attention as the first kernel of the vLLM paper did it, kept to measure against: a CTA a
/// *query* head, so that heads of a group read the same K and V again; logits of the whole context
/// in shared memory, softmax, then V; nothing is loaded ahead.
template <typename T, int kHeadDim>
struct VllmV1 {
  using Params = VllmV1Params;
  static constexpr int kThreads = 128;
  static constexpr int kCtasPerSm = 4;
  static constexpr int kWarps = kVllmV1Warps;
  static constexpr int kVectors = kHeadDim / 8;  // 16 bytes each, of a row of K or V

  /// Where the rows of one sequence and KV head lie in a pool.
  struct Rows {
    Global<const int32_t> blocks;
    KvLayout layout;
    int64_t base = 0;  // of the head's row of token 0, of a block or of the sequence

    KV_DEVICE int64_t Offset(int32_t key) const {
      if (layout.block_size == 0) {
        return base + key * layout.token_stride;
      }
      // 64 bits before the product: pools are larger than 2^31 elements.
      const int64_t block = Load(blocks + key / layout.block_size);
      return base + block * layout.block_stride + key % layout.block_size * layout.token_stride;
    }
  };

  KV_DEVICE static void Run(const Params& p) {
    const auto maxima = DynamicShared<float>(0);
    const auto sums = maxima + kWarps;
    const auto outputs = sums + kWarps;  // [kWarps, kHeadDim]
    const auto logits = outputs + kWarps * kHeadDim;

    const DeviceItem item = Load(p.items + CtaX());
    const DeviceSequence sequence = Load(p.sequences + item.sequence);
    const int32_t head = CtaY();
    const int64_t row = sequence.first_row + item.first_query;
    const int32_t keys = item.end_key;
    const int32_t kv_head = head / (p.num_heads / p.num_kv_heads);
    const Rows rows{
        p.blocks + sequence.first_block, p.layout,
        (p.layout.block_size == 0 ? sequence.base : 0) + kv_head * sequence.head_stride};

    const float largest = ReduceCta<Largest, kWarps>(
        Scores(p, p.q + (row * p.q_row_stride + head * kHeadDim), rows, keys, logits), maxima);
    float sum = 0;
    for (int32_t key = ThreadId(); key < keys; key += kThreads) {
      const float weight = Exp2(Load(logits + key) - largest);
      Store(logits + key, weight);
      sum += weight;
    }
    sum = ReduceCta<Sum, kWarps>(sum, sums);
    WeighedValues(p, rows, keys, logits, outputs + WarpId() * kHeadDim);
    SyncCta();
    const float factor = keys > 0 ? 1 / sum : 0;
    for (int i = ThreadId(); i < kHeadDim; i += kThreads) {
      float value = 0;
      for (int warp = 0; warp < kWarps; ++warp) {
        value += Load(outputs + (warp * kHeadDim + i));
      }
      Store(p.out + ((row * p.num_heads + head) * kHeadDim + i), value * factor);
    }
  }

 private:
  /// Fills `logits`, in units of log2; returns the largest that this thread has seen. Two vectors
  /// of a key's row to a lane, so that its lanes read half a row at a time.
  KV_DEVICE static float Scores(const Params& p, Global<const float> q, const Rows& rows,
                                int32_t keys, Shared<float> logits) {
    constexpr int kPerLane = 2;
    constexpr int kLanes = kVectors / kPerLane;  // of a key
    constexpr int kKeys = kWarpSize / kLanes;    // of a warp at a time
    const int lane = LaneId() % kLanes;
    float query[kPerLane][8];
    for (int j = 0; j < kPerLane; ++j) {
      LoadEight(q + 8 * (lane + j * kLanes), query[j]);
    }
    const Global<const T> k{static_cast<const T*>(p.k)};
    float largest = -3.4e38f;
    for (int32_t first = WarpId() * kKeys; first < keys; first += kWarps * kKeys) {
      const int32_t key = first + LaneId() / kLanes;
      float dot = 0;
      if (key < keys) {
        const Global<const T> at = k + rows.Offset(key);
        for (int j = 0; j < kPerLane; ++j) {
          const Vector16 vector = Load16(at + 8 * (lane + j * kLanes));
          for (int i = 0; i < 4; ++i) {
            float pair[2];
            Unpack<T>(vector.words[i], pair);
            dot += query[j][2 * i] * pair[0] + query[j][2 * i + 1] * pair[1];
          }
        }
      }
      for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) {
        dot += ShuffleXor(dot, lanes);
      }
      if (key < keys) {
        dot *= p.scale_log2;
        largest = Max(largest, dot);
        if (lane == 0) {
          Store(logits + key, dot);
        }
      }
    }
    return largest;
  }

  /// Sums V times weights over the keys of this warp; [kHeadDim] floats in `output`.
  KV_DEVICE static void WeighedValues(const Params& p, const Rows& rows, int32_t keys,
                                      Shared<const float> weights, Shared<float> output) {
    constexpr int kKeys = kWarpSize / kVectors;  // of a warp at a time
    const int lane = LaneId() % kVectors;
    const Global<const T> v{static_cast<const T*>(p.v)};
    float values[8] = {};
    for (int32_t key = WarpId() * kKeys + LaneId() / kVectors; key < keys; key += kWarps * kKeys) {
      const float weight = Load(weights + key);
      const Vector16 vector = Load16(v + (rows.Offset(key) + 8 * lane));
      for (int i = 0; i < 4; ++i) {
        float pair[2];
        Unpack<T>(vector.words[i], pair);
        values[2 * i] += weight * pair[0];
        values[2 * i + 1] += weight * pair[1];
      }
    }
    for (int i = 0; i < 8; ++i) {
      values[i] = ReduceWarp<Sum, kVectors>(values[i]);
    }
    if (LaneId() < kVectors) {
      StoreEight(output + 8 * lane, values);
    }
  }

  KV_DEVICE static void LoadEight(Global<const float> from, float (&values)[8]) {
    for (int i = 0; i < 8; i += 4) {
      const Vector16 vector = Load16(from + i);
      for (int j = 0; j < 4; ++j) {
        values[i + j] = AsFloat(vector.words[j]);
      }
    }
  }
  KV_DEVICE static void StoreEight(Shared<float> to, const float (&values)[8]) {
    for (int i = 0; i < 8; i += 4) {
      Store16(to + i, {{AsWord(values[i]), AsWord(values[i + 1]), AsWord(values[i + 2]),
                        AsWord(values[i + 3])}});
    }
  }
};

/// "vllm_v1/T/D", T fp16 or bf16, D 64, 128 or 256.
void AddVllmV1Kernels(KernelTable& table);

}  // namespace KV_SPACE
}  // namespace kvbench
