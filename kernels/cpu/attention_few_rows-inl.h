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
#include <type_traits>

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
  /// Rows and keys whose products are summed side by side, so that a vector of scores costs one
  /// reduction. A square of them loads least: with 16 lanes 4 by 4 instead of 8 by 2.
  static constexpr int kRowsAtOnce = kLanes >= 16 ? std::min(kRows, 4) : kRows;
  static constexpr int kKeys = std::max(1, kLanes / kRowsAtOnce);
  static constexpr int kSums = kKeys * kRowsAtOnce;
  static constexpr int kRow = static_cast<int>(AttentionWorkspace::kScoreRow);

  /// scores[r, key] = q[r] . K[key] for key < count (and garbage up to a multiple of kKeys).
  static HWY_NOINLINE void Scores(const RowsAhead<T>& rows, int dim, const float* HWY_RESTRICT q,
                                  float* HWY_RESTRICT scores) {
    // int8 is bound by instructions: the most common head dim as a constant, with fewer loops
    // around few vectors.
    if constexpr (kHasScales<T>) {
      if (dim == 128) return ScoresOf(rows, std::integral_constant<int, 128>(), q, scores);
    }
    ScoresOf(rows, dim, q, scores);
  }

  /// values[r, key] *= scale of row key.
  /// @param in_vectors kLanes keys from a multiple of kLanes on have their scales side by side
  static HWY_NOINLINE void ApplyScales(const RowsAhead<T>& rows, bool in_vectors,
                                       float* HWY_RESTRICT values) {
    const F32Tag d;
    const int count = rows.now.count;
    const int64_t* const at = rows.now.scale_rows;
    for (int key = 0; key < count; key += kLanes) {
      const int last = std::min(kLanes, count - key) - 1;
      if (in_vectors && last + 1 == kLanes) {
        const F32 scales = hn::LoadU(d, rows.now.scales + at[key]);
        for (int r = 0; r < kRows; ++r) {
          float* const to = values + r * kRow + key;
          hn::StoreU(hn::Mul(scales, hn::LoadU(d, to)), d, to);
        }
        continue;
      }
      for (int i = key; i <= key + last; ++i) {
        const float scale = rows.now.Scale(i);
        for (int r = 0; r < kRows; ++r) values[r * kRow + i] *= scale;
      }
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
  /// @param dim an int or an std::integral_constant of one
  template <typename Dim>
  static HWY_INLINE void ScoresOf(const RowsAhead<T>& rows, Dim dim, const float* HWY_RESTRICT q,
                                  float* HWY_RESTRICT scores) {
    const F32Tag d;
    const int count = rows.now.count;
    for (int key = 0; key < count; key += kKeys) {
      const T* HWY_RESTRICT row[kKeys];
      for (int j = 0; j < kKeys; ++j) {
        row[j] = rows.now.pool + rows.now.offsets[std::min(key + j, count - 1)];
        if (kRows > 1) rows.Prefetch(key + j, dim);
      }
      for (int first = 0; first < kRows; first += kRowsAtOnce) {
        F32 sums[kSums];
        for (F32& sum : sums) sum = hn::Zero(d);
        if constexpr (kRows == 1) {
          // Row by row, as memory has them, and so the prefetches.
          KVBENCH_UNROLL
          for (int j = 0; j < kKeys; ++j) {
            rows.Prefetch(key + j, dim);
            sums[j] = Dot(row[j], q, dim);
          }
        } else {
          for (int i = 0; i < dim; i += kLanes) {
            F32 k[kKeys];
            KVBENCH_UNROLL
            for (int j = 0; j < kKeys; ++j) k[j] = LoadF32(d, row[j] + i);
            KVBENCH_UNROLL
            for (int r = 0; r < kRowsAtOnce; ++r) {
              const F32 query = hn::LoadU(d, q + (first + r) * dim + i);
              KVBENCH_UNROLL
              for (int j = 0; j < kKeys; ++j) {
                sums[r * kKeys + j] = hn::MulAdd(k[j], query, sums[r * kKeys + j]);
              }
            }
          }
        }
        StoreScores(sums, key, scores + first * kRow);
      }
    }
  }

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
      for (int r = 0; r < kRowsAtOnce; ++r) {
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

/// K or V of a tile of keys over some heads.
template <typename T>
struct KvTile {
  const T* pool = nullptr;  ///< moved to the first head
  int64_t head_stride = 0;
  const float* scales = nullptr;  ///< where T has them
  int64_t head_rows = 0;
  const int64_t* offsets = nullptr;  ///< [kKeyTile], and where T has scales their rows behind
  int count = 0;                     ///< keys
};

/// Goes over a tile in pieces: those of a run of keys of one head, then of the same keys of the
/// next head, then of the next run.
template <typename T>
class PieceCursor {
 public:
  PieceCursor(int heads, int run_keys, int piece_keys)
      : heads_(heads), run_keys_(run_keys), piece_keys_(piece_keys) {}

  void Enter(const KvTile<T>& tile) {
    tile_ = tile;
    run_begin_ = head_ = key_ = 0;
  }
  bool done() const { return run_begin_ >= tile_.count; }
  int head() const { return head_; }
  int key() const { return key_; }

  HWY_INLINE void Next() {
    const int run_end = std::min(run_begin_ + run_keys_, tile_.count);
    key_ += piece_keys_;
    if (key_ < run_end) return;
    if (++head_ == heads_) {
      head_ = 0;
      run_begin_ += run_keys_;
    }
    key_ = run_begin_;
  }

  HWY_INLINE KvRows<T> Rows() const {
    if (done()) return {};
    const int run_end = std::min(run_begin_ + run_keys_, tile_.count);
    KvRows<T> rows{tile_.pool + head_ * tile_.head_stride, tile_.offsets + key_,
                   std::min(piece_keys_, run_end - key_)};
    if constexpr (kHasScales<T>) {
      rows.scales = tile_.scales + head_ * tile_.head_rows;
      rows.scale_rows = tile_.offsets + kKeyTile + key_;
    }
    return rows;
  }

 private:
  KvTile<T> tile_;
  int heads_;
  int run_keys_;
  int piece_keys_;
  int run_begin_ = 0;
  int head_ = 0;
  int key_ = 0;
};

/// All keys of `item` for KV heads [first_head, first_head + heads) of one query. Tile by tile K is
/// read, then V; what is used 8 KiB later is on its way, whether it is of the same tile, of its V
/// or of the next tile's K.
template <typename T, int kRows, class Accessor>
HWY_NOINLINE void AttendFewRows(const AttentionCall& call, const AttentionItem& item,
                                const Accessor& kv, int first_head, int heads,
                                const AttentionWorkspace& work, PrefetchLevel level) {
  using Rows = FewRows<T, kRows>;
  constexpr int kPageBytes = 4096;
  constexpr int kTile = static_cast<int>(kKeyTile);
  const int dim = call.head_dim;
  const int64_t score_rows = kRows * AttentionWorkspace::kScoreRow;
  const int page_keys = std::clamp(kPageBytes / (dim * static_cast<int>(sizeof(T))), 8, kTile);
  // With few rows K and V are two streams, a tile of each in turn. With many, V is walked once for
  // each few columns and only the first walk prefetches: pieces of a page spread that out.
  constexpr bool kFew = kRows <= 2;
  const bool whole_tile = heads == 1 && kFew;
  const int run_keys =
      heads == 1 || !kFew ? kTile : std::clamp(call.layout.block_size, page_keys, kTile);
  const int piece_keys = whole_tile ? kTile : page_keys;
  int pages_ahead = 2;
  PrefetchPlan prefetch{level};
  // What lies together and is read in that order: a head of a contiguous cache, a block's heads.
  constexpr int64_t kStreamBytes = 128 * 1024;
  const int32_t block_size = call.layout.block_size;
  const int64_t block_bytes = int64_t{block_size} * heads * dim * static_cast<int>(sizeof(T));
  const bool streams =
      kFew && (heads == 1 ? block_size == 0 : block_size <= kTile && block_bytes >= kStreamBytes);
  if (streams && level == PrefetchLevel::kSecond) {
    // Where misses in flight are few, streams are left to the hardware: one line in four keeps them
    // going, from a tile of K to one of V too if it is a tile ahead.
    prefetch.step = 256;
    if (whole_tile) pages_ahead = 4;
  }
  const int pieces_ahead = whole_tile ? 1 : pages_ahead;

  // Items begin at multiples of kSplitAlign keys, tiles and pieces at multiples of a vector.
  const bool in_vectors = call.layout.block_size % kLanes == 0 && item.first_key % kLanes == 0 &&
                          piece_keys % kLanes == 0;

  int64_t lists[2][(kHasScales<T> ? 2 : 1) * kKeyTile];
  const auto list = [&](int begin, int64_t* offsets) HWY_ATTR {
    const int count = std::clamp<int>(item.end_key - begin, 0, kTile);
    ListKeys(kv, begin, count, offsets);
    if constexpr (kHasScales<T>) ListScales(offsets, count, dim, offsets + kKeyTile);
  };
  const auto tile = [&](const void* pool, const float* scales, int begin,
                        const int64_t* offsets) HWY_ATTR {
    KvTile<T> tile_of;
    tile_of.pool = static_cast<const T*>(pool) + first_head * kv.head_stride();
    tile_of.head_stride = kv.head_stride();
    if constexpr (kHasScales<T>) {
      tile_of.head_rows = kv.head_stride() / dim;
      tile_of.scales = scales + first_head * tile_of.head_rows;
    }
    tile_of.offsets = offsets;
    tile_of.count = std::clamp<int>(item.end_key - begin, 0, kTile);
    return tile_of;
  };
  int64_t* offsets = lists[0];
  int64_t* next_offsets = lists[1];
  list(item.first_key, offsets);
  PieceCursor<T> now(heads, run_keys, piece_keys);
  PieceCursor<T> later = now;
  later.Enter(tile(call.k, call.k_scales, item.first_key, offsets));
  for (int i = 0; i < pieces_ahead; ++i) later.Next();
  bool later_in_v = false;

  for (int begin = item.first_key; begin < item.end_key; begin += kTile) {
    list(begin + kTile, next_offsets);
    const KvTile<T> k = tile(call.k, call.k_scales, begin, offsets);
    const KvTile<T> v = tile(call.v, call.v_scales, begin, offsets);
    const KvTile<T> next_k = tile(call.k, call.k_scales, begin + kTile, next_offsets);
    // Where `later` comes to the end of K it goes on in V, from there in the next tile's K, and
    // waits at its end for the next tile.
    const auto go_on = [&](bool v_comes) HWY_ATTR {
      if (!later.done()) return;
      if (later_in_v) {
        later.Enter(next_k);
        later_in_v = false;
      } else if (v_comes) {
        later.Enter(v);
        later_in_v = true;
      }
    };
    const auto rows_ahead = [&](bool v_comes) HWY_ATTR {
      const KvRows<T> used = now.Rows();
      const int ahead = whole_tile ? std::min(pages_ahead * page_keys, kTile) : used.count;
      const RowsAhead<T> rows{used, later.Rows(), ahead, prefetch};
      later.Next();
      go_on(v_comes);
      return rows;
    };
    go_on(true);
    for (now.Enter(k); !now.done(); now.Next()) {
      const RowsAhead<T> rows = rows_ahead(true);
      float* const scores = work.scores() + now.head() * score_rows + now.key();
      Rows::Scores(rows, dim, work.q() + now.head() * kRows * dim, scores);
      if constexpr (kHasScales<T>) Rows::ApplyScales(rows, in_vectors, scores);
    }
    for (int row = 0; row < heads * kRows; ++row) {
      const float factor = SoftmaxTile(work.scores() + row * AttentionWorkspace::kScoreRow, k.count,
                                       work.largest()[row], work.sum()[row]);
      if (factor != 1.0f) Rescale(factor, dim, work.out() + row * dim);
    }
    for (now.Enter(v); !now.done(); now.Next()) {
      const RowsAhead<T> rows = rows_ahead(false);
      float* const weights = work.scores() + now.head() * score_rows + now.key();
      if constexpr (kHasScales<T>) Rows::ApplyScales(rows, in_vectors, weights);
      Rows::Accumulate(rows, dim, weights, work.out() + now.head() * kRows * dim);
    }
    std::swap(offsets, next_offsets);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#endif
