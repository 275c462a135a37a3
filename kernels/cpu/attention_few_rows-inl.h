// Attention of 1, 2, 4 or 8 query rows a KV head (the group of a decode), with K and V read where
// they lie and converted in registers. Compiled once for each target.

#if defined(KVBENCH_KERNELS_CPU_ATTENTION_FEW_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVBENCH_KERNELS_CPU_ATTENTION_FEW_ROWS_INL_H_
#undef KVBENCH_KERNELS_CPU_ATTENTION_FEW_ROWS_INL_H_
#else
#define KVBENCH_KERNELS_CPU_ATTENTION_FEW_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/attention_item.h"
#include "kernels/cpu/kv_accessor.h"
#include "kernels/cpu/rows_ahead-inl.h"
#include "kernels/cpu/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {

/// Lane i of the result is the sum of the lanes of v[i]; v has kLanes vectors and is used up.
HWY_INLINE F32 SumOfEach(F32* HWY_RESTRICT v) {
#if HWY_TARGET == HWY_SCALAR
  return v[0];
#else
  const F32Tag d;
  if constexpr (kLanes <= 8) {
    // Adds inside 128-bit blocks first: shuffles that stay in a block are cheap.
    const hn::RepartitionToWide<hn::RebindToUnsigned<F32Tag> > du64;
    const auto pairs = [&](F32 a, F32 b) HWY_ATTR {
      return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
    };
    const auto fours = [&](F32 ab, F32 cd) HWY_ATTR {
      const auto low = hn::InterleaveLower(du64, hn::BitCast(du64, ab), hn::BitCast(du64, cd));
      const auto high = hn::InterleaveUpper(du64, hn::BitCast(du64, ab), hn::BitCast(du64, cd));
      return hn::Add(hn::BitCast(d, low), hn::BitCast(d, high));
    };
    const F32 first = fours(pairs(v[0], v[1]), pairs(v[2], v[3]));
    if constexpr (kLanes == 4) {
      return first;
    } else {
      const F32 second = fours(pairs(v[4], v[5]), pairs(v[6], v[7]));
      return hn::Add(hn::ConcatLowerLower(d, second, first),
                     hn::ConcatUpperUpper(d, second, first));
    }
  } else {
    // Two vectors become one that has half of either: a blend, and a shuffle of the other halves
    // onto them. Blends go to any port, shuffles to few; unzipping the pairs takes two shuffles.
    const hn::RepartitionToWide<hn::RebindToUnsigned<F32Tag> > du64;
    const auto fold = [&](int width, const auto& even, const auto& swap) HWY_ATTR {
      for (int i = 0; i < width / 2; ++i) {
        const F32 a = v[2 * i], b = v[2 * i + 1];
        v[i] = hn::Add(even(b, a), swap(even(a, b)));
      }
    };
    const auto in_pairs = [&](F32 x) HWY_ATTR { return hn::BitCast(du64, x); };
    fold(
        16, [](F32 odd, F32 even) HWY_ATTR { return hn::OddEven(odd, even); },
        [](F32 x) HWY_ATTR { return hn::Shuffle2301(x); });
    fold(
        8,
        [&](F32 odd, F32 even)
            HWY_ATTR { return hn::BitCast(d, hn::OddEven(in_pairs(odd), in_pairs(even))); },
        [](F32 x) HWY_ATTR { return hn::Shuffle1032(x); });
    fold(
        4, [](F32 odd, F32 even) HWY_ATTR { return hn::OddEvenBlocks(odd, even); },
        [](F32 x) HWY_ATTR { return hn::SwapAdjacentBlocks(x); });
    fold(
        2, [&](F32 upper, F32 lower) HWY_ATTR { return hn::ConcatUpperLower(d, upper, lower); },
        [&](F32 x) HWY_ATTR { return hn::ConcatLowerUpper(d, x, x); });
    return v[0];
  }
#endif
}

template <typename T, int kRows>
struct FewRows {
  /// Keys whose products are summed side by side, so that a vector of scores costs one reduction.
  static constexpr int kKeys = std::max(1, kLanes / kRows);
  static constexpr int kSums = kKeys * kRows;
  static constexpr int kRow = static_cast<int>(AttentionWorkspace::kScoreRow);

  /// scores[r, key] = q[r] . K[key] for key < count (and garbage up to a multiple of kKeys).
  static HWY_NOINLINE void Scores(const RowsAhead<T>& rows, int dim, const float* HWY_RESTRICT q,
                                  float* HWY_RESTRICT scores) {
    const F32Tag d;
    const int count = rows.now.count;
    for (int key = 0; key < count; key += kKeys) {
      const T* HWY_RESTRICT row[kKeys];
      for (int j = 0; j < kKeys; ++j) {
        row[j] = rows.now.pool + rows.now.offsets[std::min(key + j, count - 1)];
        rows.Prefetch(key + j, dim);
      }
      F32 sums[kSums];
      for (F32& sum : sums) sum = hn::Zero(d);
      if constexpr (kRows == 1) {
        // Row by row, as memory has them.
        KVBENCH_UNROLL
        for (int j = 0; j < kKeys; ++j) sums[j] = Dot(row[j], q, dim);
      } else {
        for (int i = 0; i < dim; i += kLanes) {
          F32 k[kKeys];
          KVBENCH_UNROLL
          for (int j = 0; j < kKeys; ++j) k[j] = LoadF32(d, row[j] + i);
          KVBENCH_UNROLL
          for (int r = 0; r < kRows; ++r) {
            const F32 query = hn::LoadU(d, q + r * dim + i);
            KVBENCH_UNROLL
            for (int j = 0; j < kKeys; ++j) {
              sums[r * kKeys + j] = hn::MulAdd(k[j], query, sums[r * kKeys + j]);
            }
          }
        }
      }
      StoreScores(sums, key, scores);
    }
  }

  /// values[r, key] *= scale of row key.
  static HWY_NOINLINE void ApplyScales(const RowsAhead<T>& rows, float* HWY_RESTRICT values) {
    for (int key = 0; key < rows.now.count; ++key) {
      const float scale = rows.now.Scale(key);
      for (int r = 0; r < kRows; ++r) values[r * kRow + key] *= scale;
    }
  }

  /// out[r] += sum over keys of weights[r, key] * V[key].
  static HWY_NOINLINE void Accumulate(const RowsAhead<T>& rows, int dim,
                                      const float* HWY_RESTRICT weights, float* HWY_RESTRICT out) {
    // As many sums as half the registers hold.
    constexpr int kVectors = std::min(8, std::max(1, (kLanes >= 16 ? 16 : 8) / kRows));
    int i = AccumulateColumns<kVectors>(rows, dim, 0, weights, out);
    if constexpr (kVectors > 2) {
      i = AccumulateColumns<kVectors / 2>(rows, dim, i, weights, out);
    }
    if constexpr (kVectors > 4) {
      i = AccumulateColumns<kVectors / 4>(rows, dim, i, weights, out);
    }
    if constexpr (kVectors > 1) {
      AccumulateColumns<1>(rows, dim, i, weights, out);
    }
  }

 private:
  /// Lanes that add up to a . b.
  static HWY_INLINE F32 Dot(const T* HWY_RESTRICT a, const float* HWY_RESTRICT b, int dim) {
    const F32Tag d;
    F32 sum0 = hn::Zero(d);
    F32 sum1 = hn::Zero(d);
    int i = 0;
    for (; i + 4 * kLanes <= dim; i += 4 * kLanes) {
      sum0 = hn::MulAdd(LoadF32(d, a + i), hn::LoadU(d, b + i), sum0);
      sum1 = hn::MulAdd(LoadF32(d, a + i + kLanes), hn::LoadU(d, b + i + kLanes), sum1);
      sum0 = hn::MulAdd(LoadF32(d, a + i + 2 * kLanes), hn::LoadU(d, b + i + 2 * kLanes), sum0);
      sum1 = hn::MulAdd(LoadF32(d, a + i + 3 * kLanes), hn::LoadU(d, b + i + 3 * kLanes), sum1);
    }
    for (; i < dim; i += kLanes) sum0 = hn::MulAdd(LoadF32(d, a + i), hn::LoadU(d, b + i), sum0);
    return hn::Add(sum0, sum1);
  }

  static HWY_INLINE void StoreScores(F32* HWY_RESTRICT sums, int key, float* HWY_RESTRICT scores) {
    const F32Tag d;
    if constexpr (kRows == 1) {
      hn::StoreU(SumOfEach(sums), d, scores + key);
    } else {
      HWY_ALIGN float each[kSums];
      for (int i = 0; i < kSums; i += kLanes) hn::Store(SumOfEach(sums + i), d, each + i);
      for (int r = 0; r < kRows; ++r) {
        std::memcpy(scores + r * kRow + key, each + r * kKeys, kKeys * sizeof(float));
      }
    }
  }

  // As many columns from `begin` as fit a whole number of kVectors vectors; returns the first that
  // is left.
  template <int kVectors>
  static HWY_INLINE int AccumulateColumns(const RowsAhead<T>& rows, int dim, int begin,
                                          const float* HWY_RESTRICT weights,
                                          float* HWY_RESTRICT out) {
    const F32Tag d;
    int i = begin;
    for (; i + kVectors * kLanes <= dim; i += kVectors * kLanes) {
      F32 sums[kRows * kVectors];
      for (int r = 0; r < kRows; ++r) {
        for (int j = 0; j < kVectors; ++j) {
          sums[r * kVectors + j] = hn::LoadU(d, out + r * dim + i + j * kLanes);
        }
      }
      for (int key = 0; key < rows.now.count; ++key) {
        if (i == 0) rows.Prefetch(key, dim);
        const T* HWY_RESTRICT row = rows.now.pool + rows.now.offsets[key] + i;
        F32 weight[kRows];
        KVBENCH_UNROLL
        for (int r = 0; r < kRows; ++r) weight[r] = hn::Set(d, weights[r * kRow + key]);
        KVBENCH_UNROLL
        for (int j = 0; j < kVectors; ++j) {
          const F32 v = LoadF32(d, row + j * kLanes);
          KVBENCH_UNROLL
          for (int r = 0; r < kRows; ++r) {
            sums[r * kVectors + j] = hn::MulAdd(v, weight[r], sums[r * kVectors + j]);
          }
        }
      }
      for (int r = 0; r < kRows; ++r) {
        for (int j = 0; j < kVectors; ++j) {
          hn::StoreU(sums[r * kVectors + j], d, out + r * dim + i + j * kLanes);
        }
      }
    }
    return i;
  }
};

/// K or V of a tile of keys over some heads, cut into pieces in the order in which they are read: a
/// 4 KiB page of a head, then the same keys of the next head, so that a block is read as it lies.
/// One head alone is one piece.
template <typename T>
struct TilePieces {
  const T* pool = nullptr;
  int64_t head_stride = 0;
  const float* scales = nullptr;  ///< where T has them
  int64_t head_rows = 0;
  const int64_t* offsets = nullptr;  ///< [kKeyTile], and where T has scales their rows behind
  int count = 0;                     ///< keys
  int heads = 0;
  int keys = 0;  ///< of a piece

  int pieces() const { return (count + keys - 1) / keys * heads; }
  int first_key(int piece) const { return piece / heads * keys; }
  HWY_INLINE KvRows<T> At(int piece) const {
    const int head = piece % heads;
    const int key = first_key(piece);
    KvRows<T> rows{pool + head * head_stride, offsets + key, std::min(keys, count - key)};
    if constexpr (kHasScales<T>) {
      rows.scales = scales + head * head_rows;
      rows.scale_rows = offsets + kKeyTile + key;
    }
    return rows;
  }
};

/// All keys of `item` for KV heads [first_head, first_head + heads) of one query. Tile by tile K is
/// read, then V; what is used 8 KiB later is on its way, whether it is of the same tile, of its V
/// or of the next tile's K.
template <typename T, int kRows, class Accessor>
HWY_NOINLINE void AttendFewRows(const AttentionCall& call, const AttentionItem& item,
                                const Accessor& kv, int first_head, int heads,
                                const AttentionWorkspace& work) {
  using Rows = FewRows<T, kRows>;
  constexpr int kPageBytes = 4096;
  constexpr int kPagesAhead = 2;
  const int dim = call.head_dim;
  const int64_t score_rows = kRows * AttentionWorkspace::kScoreRow;
  const int page_keys =
      std::clamp(kPageBytes / (dim * static_cast<int>(sizeof(T))), 8, static_cast<int>(kKeyTile));
  // With many rows V is walked once for each few columns and only the first walk prefetches: short
  // pieces spread that out. With few, a call for each page is what costs.
  const bool whole_tile = heads == 1 && kRows <= 2;
  const int piece_keys = whole_tile ? static_cast<int>(kKeyTile) : page_keys;
  const int pieces_ahead = whole_tile ? 1 : kPagesAhead;

  int64_t lists[2][(kHasScales<T> ? 2 : 1) * kKeyTile];
  const auto tile = [&](const void* pool, const float* scales, int begin, const int64_t* offsets)
                        HWY_ATTR {
                          TilePieces<T> pieces;
                          pieces.pool = static_cast<const T*>(pool) + first_head * kv.head_stride();
                          pieces.head_stride = kv.head_stride();
                          if constexpr (kHasScales<T>) {
                            pieces.head_rows = kv.head_stride() / dim;
                            pieces.scales = scales + first_head * pieces.head_rows;
                          }
                          pieces.offsets = offsets;
                          pieces.count = std::clamp<int>(item.end_key - begin, 0, kKeyTile);
                          pieces.heads = heads;
                          pieces.keys = piece_keys;
                          return pieces;
                        };
  const auto list = [&](int begin, int64_t* offsets) HWY_ATTR {
    const int count = std::clamp<int>(item.end_key - begin, 0, kKeyTile);
    ListKeys(kv, begin, count, offsets);
    if constexpr (kHasScales<T>) ListScales(offsets, count, dim, offsets + kKeyTile);
  };
  int64_t* offsets = lists[0];
  int64_t* next_offsets = lists[1];
  list(item.first_key, offsets);
  for (int begin = item.first_key; begin < item.end_key; begin += kKeyTile) {
    list(begin + kKeyTile, next_offsets);
    const TilePieces<T> k = tile(call.k, call.k_scales, begin, offsets);
    const TilePieces<T> v = tile(call.v, call.v_scales, begin, offsets);
    const TilePieces<T> next_k = tile(call.k, call.k_scales, begin + kKeyTile, next_offsets);
    const int pieces = k.pieces();
    const auto rows_at = [&](const TilePieces<T>& now, const TilePieces<T>& then,
                             int piece) HWY_ATTR {
      const int later = piece + pieces_ahead;
      RowsAhead<T> rows{now.At(piece), later < pieces                   ? now.At(later)
                                       : later - pieces < then.pieces() ? then.At(later - pieces)
                                                                        : KvRows<T>{}};
      rows.ahead = whole_tile ? kPagesAhead * page_keys : rows.now.count;
      return rows;
    };
    for (int piece = 0; piece < pieces; ++piece) {
      const RowsAhead<T> rows = rows_at(k, v, piece);
      const int head = piece % heads;
      float* const scores = work.scores() + head * score_rows + k.first_key(piece);
      Rows::Scores(rows, dim, work.q() + head * kRows * dim, scores);
      if constexpr (kHasScales<T>) Rows::ApplyScales(rows, scores);
    }
    for (int row = 0; row < heads * kRows; ++row) {
      const float factor = SoftmaxTile(work.scores() + row * AttentionWorkspace::kScoreRow, k.count,
                                       work.largest()[row], work.sum()[row]);
      if (factor != 1.0f) Rescale(factor, dim, work.out() + row * dim);
    }
    for (int piece = 0; piece < pieces; ++piece) {
      const RowsAhead<T> rows = rows_at(v, next_k, piece);
      const int head = piece % heads;
      float* const weights = work.scores() + head * score_rows + v.first_key(piece);
      if constexpr (kHasScales<T>) Rows::ApplyScales(rows, weights);
      Rows::Accumulate(rows, dim, weights, work.out() + head * kRows * dim);
    }
    std::swap(offsets, next_offsets);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#endif
