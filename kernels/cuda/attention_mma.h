#pragma once

#include <cmath>

#include "kernels/cuda/attention_params.h"
#include "kernels/cuda/kv_tiles.h"
#include "kernels/cuda/vectors.h"
#include "kernels/cuda/vocabulary.h"

namespace kvbench {
class KernelTable;
inline namespace KV_SPACE {

/// Attention by tensor cores, for decodes of large groups and for prompts. The rows of a tile are
/// pairs of a query and a head of the group, packed: a decode of GQA-8 has 8 rows, 4 queries of it
/// 32. K and V are read once for all of them. A row sees the keys up to its query's own.
///
/// Per tile of keys the four warps share Q K^T by keys (at head dim 256 also by dimensions), put
/// the scores into shared memory, and then each computes all weights and multiplies them with its
/// quarter of V's dimensions. Maxima change once a tile.
///
/// Grid: (items, KV heads x head tiles); items have num_queries x group rows at most kMatrices *
/// 16, or one query and as many head tiles as its group needs.
template <typename T, int kHeadDim, typename Keys, int kMatrices>
struct AttentionMma {
  using Params = AttentionParams;
  static constexpr int kThreads = 128;
  // Outputs of two matrices of rows take more than 128 registers.
  static constexpr int kCtasPerSm = kMatrices == 1 ? 4 : kHeadDim < 256 ? 3 : 2;
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kRows = 16 * kMatrices;
  static constexpr int kTileKeys = kHeadDim == 256 ? 16 : 32;
  static constexpr int kStages = kHeadDim == 64 ? 3 : 2;
  using Tiles = KvTiles<T, kHeadDim, kTileKeys, kStages, Keys, kThreads>;

  static constexpr int kKeyWarps = kTileKeys / 8;              // warps side by side over keys
  static constexpr int kDimWarps = kWarps / kKeyWarps;         // and over dimensions
  static constexpr int kDimSteps = kHeadDim / 16 / kDimWarps;  // MMA steps of a warp's scores
  static constexpr int kOutTiles = kHeadDim / 8 / kWarps;      // 8-wide tiles of a warp's outputs
  static constexpr int kPieces = kHeadDim / 8;

  // Scores: rows of floats, 8 apart in banks, so that pairs of four rows lie side by side.
  static constexpr int kScoreStride = kTileKeys + 8;
  static constexpr int kScoreBytes = kDimWarps * kRows * kScoreStride * 4;
  static constexpr int kQueryBytes = kRows * kHeadDim * 2;
  static constexpr int kScoresAt = kQueryBytes;
  static constexpr int kTilesAt = kScoresAt + kScoreBytes;
  static constexpr int kSharedBytes = kTilesAt + Tiles::kBytes;

  KV_DEVICE static void Run(const Params& p) {
    const DeviceItem item = Load(p.items + CtaX());
    const DeviceSequence sequence = Load(p.sequences + item.sequence);
    const int group = p.num_heads / p.num_kv_heads;
    const int kv_head = CtaY() % p.num_kv_heads;
    const int first_row = CtaY() / p.num_kv_heads * kRows;
    const int rows = Min(item.num_queries * group - first_row, kRows);

    const Shared<T> queries = DynamicShared<T>(0);
    LoadQueries(p, item, sequence, group, kv_head, first_row, rows, queries);
    const Keys keys(p, sequence, kv_head);
    Tiles tiles(p, keys, item.first_key, item.end_key, kTilesAt);

    const int lane = LaneId();
    const int g = lane / 4;
    // Of this lane's rows g and g + 8 of each matrix: how many keys of the item they see.
    int visible[kMatrices][2];
    float largest[kMatrices][2];
    float sum[kMatrices][2];
    float out[kMatrices][kOutTiles][4];
#pragma unroll
    for (int m = 0; m < kMatrices; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = m * 16 + g + 8 * half;
        const int query = item.first_query + (first_row + row) / group;
        visible[m][half] =
            row < rows ? sequence.context - sequence.num_queries + query + 1 - item.first_key : 0;
        largest[m][half] = -INFINITY;
        sum[m][half] = 0;
      }
#pragma unroll
      for (int n = 0; n < kOutTiles; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) out[m][n][i] = 0;
      }
    }

    const Shared<float> scores = DynamicShared<float>(kScoresAt);
    for (int tile = 0; tile < tiles.tiles(); ++tile) {
      tiles.Arrive(tile);
      Scores(tiles, tile, queries, scores);
      SyncCta();
      const int left = item.end_key - item.first_key - tile * kTileKeys;
#pragma unroll
      for (int m = 0; m < kMatrices; ++m) {
        uint32_t weights[kTileKeys / 16][4];
        Weights(p, scores, m, tile, left, visible[m], largest[m], sum[m], out[m], weights);
        Values(tiles, tile, weights, out[m]);
      }
    }
    Write(p, item, sequence, group, kv_head, first_row, rows, largest, sum, out);
  }

 private:
  static KV_DEVICE int Min(int a, int b) { return a < b ? a : b; }

  /// Queries as T, in pieces of 16 bytes swizzled like K; rows that are not there are zeros.
  KV_DEVICE static void LoadQueries(const Params& p, const DeviceItem& item,
                                    const DeviceSequence& sequence, int group, int kv_head,
                                    int first_row, int rows, Shared<T> queries) {
    for (int i = ThreadId(); i < kRows * kPieces; i += kThreads) {
      const int row = i / kPieces;
      const int piece = i % kPieces;
      Vector16 words = {};
      if (row < rows) {
        const int packed = first_row + row;
        const int64_t q_row = sequence.first_row + item.first_query + packed / group;
        const Global<const float> from =
            p.q + q_row * p.q_row_stride +
            (int64_t{kv_head * group + packed % group} * kHeadDim + piece * 8);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const Vector16 floats = Load16(from + half * 4);
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            words.words[half * 2 + j] =
                Pack<T>(FloatOf(floats.words[2 * j]), FloatOf(floats.words[2 * j + 1]));
          }
        }
      }
      Store16(queries + Place(row, piece), words);
    }
  }

  static KV_DEVICE int Place(int row, int piece) {
    return (row * kPieces + (piece ^ (row % 8))) * 8;
  }

  /// This warp's part of Q K^T: 8 keys of all rows, over its dimensions.
  KV_DEVICE static void Scores(const Tiles& tiles, int tile, Shared<T> queries,
                               Shared<float> scores) {
    const int lane = LaneId();
    const int key_warp = WarpId() % kKeyWarps;
    const int dim_warp = WarpId() / kKeyWarps;
    float sums[kMatrices][4] = {};
#pragma unroll
    for (int step = 0; step < kDimSteps; step += 2) {
      // Two steps of 16 dimensions of 8 keys: four matrices, one for each 8 dimensions.
      const int first_piece = (dim_warp * kDimSteps + step) * 2;
      uint32_t k[4];
      LoadMatrix4(k, tiles.KPiece(tile, key_warp * 8 + lane % 8, first_piece + lane / 8));
#pragma unroll
      for (int m = 0; m < kMatrices; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          // Matrices of a: rows 0 to 7 and 8 to 15 of 8 dimensions, then of 8 more.
          uint32_t q[4];
          LoadMatrix4(q, queries + Place(m * 16 + lane % 16, first_piece + 2 * half + lane / 16));
          const uint32_t b[2] = {k[2 * half], k[2 * half + 1]};
          Multiply16x8x16<T>(sums[m], q, b);
        }
      }
    }
#pragma unroll
    for (int m = 0; m < kMatrices; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = m * 16 + lane / 4 + 8 * half;
        const int at = (dim_warp * kRows + row) * kScoreStride + key_warp * 8 + 2 * (lane % 4);
        Store(Pairs(scores + at), FloatPair{sums[m][2 * half], sums[m][2 * half + 1]});
      }
    }
  }

  static KV_DEVICE Shared<FloatPair> Pairs(Shared<float> p) {
    return {reinterpret_cast<FloatPair*>(p.address)};
  }

  /// Weights of one matrix of rows against the tile, as the left side of an MMA; sums, outputs and
  /// maxima are brought to the new maximum. Every warp does it for itself and gets the same.
  KV_DEVICE static void Weights(const Params& p, Shared<float> scores, int m, int tile, int left,
                                const int (&visible)[2], float (&largest)[2], float (&sum)[2],
                                float (&out)[kOutTiles][4],
                                uint32_t (&weights)[kTileKeys / 16][4]) {
    const int lane = LaneId();
    float s[2][kTileKeys / 8][2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = m * 16 + lane / 4 + 8 * half;
      const int seen = Min(visible[half] - tile * kTileKeys, left);
      float peak = largest[half];
#pragma unroll
      for (int n = 0; n < kTileKeys / 8; ++n) {
        const int key = n * 8 + 2 * (lane % 4);
        FloatPair pair = Load(Pairs(scores + (row * kScoreStride + key)));
        if constexpr (kDimWarps == 2) {
          const FloatPair more = Load(Pairs(scores + ((kRows + row) * kScoreStride + key)));
          pair.first += more.first;
          pair.second += more.second;
        }
        s[half][n][0] = key < seen ? pair.first * p.scale_log2 : -INFINITY;
        s[half][n][1] = key + 1 < seen ? pair.second * p.scale_log2 : -INFINITY;
        peak = Max(peak, Max(s[half][n][0], s[half][n][1]));
      }
      peak = Max(peak, ShuffleXor(peak, 1));
      peak = Max(peak, ShuffleXor(peak, 2));
      // All keys so far masked: nothing to subtract, and every weight becomes 0.
      const float base = peak == -INFINITY ? 0.0F : peak;
      const float shrink = Exp2(largest[half] - base);
      largest[half] = peak;
      sum[half] *= shrink;
#pragma unroll
      for (int n = 0; n < kOutTiles; ++n) {
        out[n][2 * half] *= shrink;
        out[n][2 * half + 1] *= shrink;
      }
#pragma unroll
      for (int n = 0; n < kTileKeys / 8; ++n) {
        s[half][n][0] = Exp2(s[half][n][0] - base);
        s[half][n][1] = Exp2(s[half][n][1] - base);
        sum[half] += s[half][n][0] + s[half][n][1];  // of this lane's keys
      }
    }
#pragma unroll
    for (int step = 0; step < kTileKeys / 16; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&pair)[2] = s[i % 2][step * 2 + i / 2];
        weights[step][i] = Pack<T>(pair[0], pair[1]);
      }
    }
  }

  /// Adds weights times V to this warp's dimensions of the output.
  KV_DEVICE static void Values(const Tiles& tiles, int tile,
                               const uint32_t (&weights)[kTileKeys / 16][4],
                               float (&out)[kOutTiles][4]) {
    const int lane = LaneId();
#pragma unroll
    for (int step = 0; step < kTileKeys / 16; ++step) {
#pragma unroll
      for (int n = 0; n < kOutTiles; n += 2) {
        // Keys 0 to 7 and 8 to 15 of 8 dimensions, then of the next 8.
        uint32_t v[4];
        LoadMatrix4Transposed(
            v, tiles.VPiece(tile, step * 16 + lane % 16, WarpId() * kOutTiles + n + lane / 16));
        const uint32_t first[2] = {v[0], v[1]};
        const uint32_t second[2] = {v[2], v[3]};
        Multiply16x8x16<T>(out[n], weights[step], first);
        Multiply16x8x16<T>(out[n + 1], weights[step], second);
      }
    }
  }

  KV_DEVICE static void Write(const Params& p, const DeviceItem& item,
                              const DeviceSequence& sequence, int group, int kv_head, int first_row,
                              int rows, const float (&largest)[kMatrices][2],
                              const float (&sum)[kMatrices][2],
                              const float (&out)[kMatrices][kOutTiles][4]) {
    const int lane = LaneId();
    const bool whole = item.partial_row < 0;
#pragma unroll
    for (int m = 0; m < kMatrices; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float total = sum[m][half];
        total += ShuffleXor(total, 1);
        total += ShuffleXor(total, 2);
        const int row = m * 16 + lane / 4 + 8 * half;
        if (row >= rows) continue;
        const int packed = first_row + row;
        const int query = packed / group;
        const int head = kv_head * group + packed % group;
        const int64_t out_row = whole ? sequence.first_row + item.first_query + query
                                      : int64_t{item.partial_row} + query;
        const float scale = total > 0 ? 1.0F / total : 0.0F;
        const Global<float> to = (whole ? p.out : p.partial_out) +
                                 (out_row * p.num_heads + head) * kHeadDim +
                                 (WarpId() * kOutTiles * 8 + 2 * (lane % 4));
#pragma unroll
        for (int n = 0; n < kOutTiles; ++n) {
          const Global<FloatPair> pair = {reinterpret_cast<FloatPair*>((to + n * 8).address)};
          Store(pair, FloatPair{out[m][n][2 * half] * scale, out[m][n][2 * half + 1] * scale});
        }
        if (!whole && WarpId() == 0 && lane % 4 == 0) {
          Store(p.partial_lse + (out_row * p.num_heads + head),
                total > 0 ? largest[m][half] + Log2(total) : -INFINITY);
        }
      }
    }
  }
};

void AddAttentionMmaKernels(KernelTable& table);

}  // namespace KV_SPACE
}  // namespace kvbench
