#pragma once

#include <cmath>

#include "kernels/cuda/attention_params.h"
#include "kernels/cuda/kv_tiles.h"
#include "kernels/cuda/reductions.h"
#include "kernels/cuda/vectors.h"
#include "kernels/cuda/vocabulary.h"

namespace kvbench {
class KernelTable;
inline namespace KV_SPACE {

/// Decode attention without tensor cores, for small groups. A CTA takes one item and the query
/// heads of one KV head, so that K and V are read once for all of them.
///
/// A row of kLanes threads has a whole key: 8 dimensions each. Rows share the work by heads (kHeads
/// each) and, with what is left, by keys. Each row keeps a maximum, a sum and an output of its own;
/// at the end the rows of a head are merged. Maxima change once for kChunk keys.
///
/// Grid: (items, KV heads x head tiles); items have one query.
template <typename T, int kHeadDim, typename Keys, int kHeads, int kStages>
struct DecodeCores {
  using Params = AttentionParams;
  static constexpr int kThreads = 128;
  static constexpr int kCtasPerSm = 4;
  static constexpr int kLanes = kHeadDim / 8;
  static constexpr int kRows = kThreads / kLanes;
  // Two stages of 16 KiB, or more of 8 KiB.
  static constexpr int kTileKeys = (kStages == 2 ? 4 : 2) * kRows;
  // Four heads of four keys do not fit the registers.
  static constexpr int kChunk = kHeads == 4 || kStages > 2 ? 2 : 4;
  using Tiles = KvTiles<T, kHeadDim, kTileKeys, kStages, Keys, kThreads>;
  // The merge reuses the ring: kHeadDim outputs for each row and head, then maxima, then sums.
  static constexpr int kParts = kRows * kHeads;
  static constexpr int kMergeBytes = kParts * (kHeadDim + 2) * 4;
  static constexpr int kSharedBytes = Tiles::kBytes > kMergeBytes ? Tiles::kBytes : kMergeBytes;

  KV_DEVICE static void Run(const Params& p) {
    const DeviceItem item = Load(p.items + CtaX());
    const DeviceSequence sequence = Load(p.sequences + item.sequence);
    const int group = p.num_heads / p.num_kv_heads;
    const int kv_head = CtaY() % p.num_kv_heads;
    const int head_tile = CtaY() / p.num_kv_heads;

    // Rows of heads: the power of two that holds the group, or all rows.
    int head_rows = 1;
    while (head_rows * kHeads < group && head_rows < kRows) head_rows *= 2;
    const int key_rows = kRows / head_rows;
    const int lane = ThreadId() % kLanes;
    const int row = ThreadId() / kLanes;
    const int key_row = row / head_rows;
    const int first_head = (head_tile * head_rows + row % head_rows) * kHeads;  // of the group

    const int64_t q_row = sequence.first_row + item.first_query;
    float q[kHeads][8];
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      const bool there = first_head + h < group;
      const Global<const float> from =
          p.q + q_row * p.q_row_stride +
          int64_t{kv_head * group + (there ? first_head + h : 0)} * kHeadDim + lane * 8;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const Vector16 words = Load16(from + half * 4);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          q[h][half * 4 + i] = FloatOf(words.words[i]) * p.scale_log2;
        }
      }
    }

    float largest[kHeads];
    float sum[kHeads];
    float out[kHeads][8];
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      largest[h] = -INFINITY;
      sum[h] = 0;
#pragma unroll
      for (int i = 0; i < 8; ++i) out[h][i] = 0;
    }

    const Keys keys(p, sequence, kv_head);
    Tiles tiles(p, keys, item.first_key, item.end_key, 0);
    for (int tile = 0; tile < tiles.tiles(); ++tile) {
      tiles.Arrive(tile);
      const int left = item.end_key - item.first_key - tile * kTileKeys;
      for (int first = key_row; first < kTileKeys; first += kChunk * key_rows) {
        if (first - key_row >= left) break;  // the same for all threads
        Chunk(tiles, tile, first, key_rows, left, lane, q, largest, sum, out);
      }
    }
    Finish(p, item, q_row, kv_head * group, group, first_head, head_rows, key_rows, lane, row,
           largest, sum, out);
  }

 private:
  /// Keys first, first + key_rows, ... of a tile: scores, then one new maximum, then V.
  KV_DEVICE static void Chunk(const Tiles& tiles, int tile, int first, int key_rows, int left,
                              int lane, const float (&q)[kHeads][8], float (&largest)[kHeads],
                              float (&sum)[kHeads], float (&out)[kHeads][8]) {
    float scores[kHeads][kChunk];
#pragma unroll
    for (int c = 0; c < kChunk; ++c) {
      const int row = first + c * key_rows;
      float k[8];
      UnpackPiece<T>(Load16(tiles.KPiece(tile, row, lane)), k);
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        float dot = 0;
#pragma unroll
        for (int i = 0; i < 8; ++i) dot += q[h][i] * k[i];
#pragma unroll
        for (int lanes = 1; lanes < kLanes; lanes *= 2) dot += ShuffleXor(dot, lanes);
        scores[h][c] = row < left ? dot : -INFINITY;
      }
    }
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      float peak = largest[h];
#pragma unroll
      for (int c = 0; c < kChunk; ++c) peak = Max(peak, scores[h][c]);
      // All keys so far masked: nothing to subtract, and every weight becomes 0.
      const float base = peak == -INFINITY ? 0.0F : peak;
      const float shrink = Exp2(largest[h] - base);
      largest[h] = peak;
      sum[h] *= shrink;
#pragma unroll
      for (int i = 0; i < 8; ++i) out[h][i] *= shrink;
#pragma unroll
      for (int c = 0; c < kChunk; ++c) {
        scores[h][c] = Exp2(scores[h][c] - base);
        sum[h] += scores[h][c];
      }
    }
#pragma unroll
    for (int c = 0; c < kChunk; ++c) {
      float v[8];
      UnpackPiece<T>(Load16(tiles.VPiece(tile, first + c * key_rows, lane)), v);
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
#pragma unroll
        for (int i = 0; i < 8; ++i) out[h][i] += scores[h][c] * v[i];
      }
    }
  }

  /// Where a half of a lane's outputs is: halves apart, so that lanes lie side by side.
  static KV_DEVICE int MergePlace(int part, int half, int lane) {
    return part * kHeadDim + half * (kHeadDim / 2) + lane * 4;
  }

  /// Merges the rows that had the same heads and other keys, and writes.
  KV_DEVICE static void Finish(const Params& p, const DeviceItem& item, int64_t q_row,
                               int group_begin, int group, int first_head, int head_rows,
                               int key_rows, int lane, int row, const float (&largest)[kHeads],
                               const float (&sum)[kHeads], const float (&out)[kHeads][8]) {
    const Shared<float> merge = DynamicShared<float>(0);
    const Shared<float> maxima = merge + kParts * kHeadDim;
    const Shared<float> sums = maxima + kParts;
    SyncCta();
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      const int part = row * kHeads + h;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float* const o = out[h] + 4 * half;
        Store16(merge + MergePlace(part, half, lane), FourFloats(o[0], o[1], o[2], o[3]));
      }
      if (lane == 0) {
        Store(maxima + part, largest[h]);
        Store(sums + part, sum[h]);
      }
    }
    SyncCta();
    if (row >= head_rows) return;
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      if (first_head + h >= group) continue;
      DevicePartialSoftmax all;
      for (int z = 0; z < key_rows; ++z) {
        all.Raise(Load(maxima + ((z * head_rows + row) * kHeads + h)));
      }
      float merged[8] = {};
      for (int z = 0; z < key_rows; ++z) {
        const int part = (z * head_rows + row) * kHeads + h;
        const float weight = all.Add(Load(maxima + part), Load(sums + part));
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const Vector16 words = Load16(merge + MergePlace(part, half, lane));
#pragma unroll
          for (int j = 0; j < 4; ++j) merged[4 * half + j] += weight * FloatOf(words.words[j]);
        }
      }
      const float scale = all.Scale();
      const int head = group_begin + first_head + h;
      const bool whole = item.partial_row < 0;
      const Global<float> to =
          (whole ? p.out : p.partial_out) +
          ((whole ? q_row : int64_t{item.partial_row}) * p.num_heads + head) * kHeadDim + lane * 8;
#pragma unroll
      for (int i = 0; i < 8; i += 4) {
        Store16(to + i, FourFloats(merged[i] * scale, merged[i + 1] * scale, merged[i + 2] * scale,
                                   merged[i + 3] * scale));
      }
      if (!whole && lane == 0) {
        Store(p.partial_lse + (int64_t{item.partial_row} * p.num_heads + head),
              all.sum > 0 ? all.largest + Log2(all.sum) : -INFINITY);
      }
    }
  }
};

void AddDecodeCoresKernels(KernelTable& table);

}  // namespace KV_SPACE
}  // namespace kvbench
