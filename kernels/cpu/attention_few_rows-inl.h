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
    for (int width = kLanes; width > 1; width /= 2) {
      for (int i = 0; i < width / 2; ++i) {
        v[i] = hn::Add(hn::ConcatEven(d, v[2 * i + 1], v[2 * i]),
                       hn::ConcatOdd(d, v[2 * i + 1], v[2 * i]));
      }
    }
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
      for (int i = 0; i < dim; i += kLanes) {
        KVBENCH_UNROLL
        for (int j = 0; j < kKeys; ++j) {
          const F32 k = LoadF32(d, row[j] + i);
          KVBENCH_UNROLL
          for (int r = 0; r < kRows; ++r) {
            sums[r * kKeys + j] = hn::MulAdd(k, hn::LoadU(d, q + r * dim + i), sums[r * kKeys + j]);
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
    constexpr int kVectors = std::max(1, 8 / kRows);
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
  static HWY_INLINE void StoreScores(F32* HWY_RESTRICT sums, int key, float* HWY_RESTRICT scores) {
    const F32Tag d;
    if constexpr (kRows == 1) {
      hn::StoreU(SumOfEach(sums), d, scores + key);
    } else {
      HWY_ALIGN float each[kSums];
      for (int i = 0; i < kSums; i += kLanes) hn::Store(SumOfEach(sums + i), d, each + i);
      for (int r = 0; r < kRows; ++r) {
        for (int j = 0; j < kKeys; ++j) scores[r * kRow + key + j] = each[r * kKeys + j];
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

/// All keys of `item` for KV heads [first_head, first_head + heads) of one query. Inside a tile K
/// is walked in page order over all heads, then V; while one head's rows of a block are used, the
/// next head's are on their way.
template <typename T, int kRows, class Accessor>
HWY_NOINLINE void AttendFewRows(const AttentionCall& call, const AttentionItem& item,
                                const Accessor& kv, int first_head, int heads,
                                const AttentionWorkspace& work) {
  using Rows = FewRows<T, kRows>;
  const int dim = call.head_dim;
  const T* const k_pool = static_cast<const T*>(call.k) + first_head * kv.head_stride();
  const T* const v_pool = static_cast<const T*>(call.v) + first_head * kv.head_stride();
  const int64_t score_rows = kRows * AttentionWorkspace::kScoreRow;
  // With one head a tile is one piece; with more, a piece is about a 4 KiB page of a head, so that
  // its rows and the next head's fit into the first-level cache.
  const int distance = RowsAhead<T>::Distance(dim);
  const int segment = heads == 1 ? kKeyTile : std::clamp(distance, 8, static_cast<int>(kKeyTile));

  // Element offsets of a tile's keys and, where T has scales, their rows behind them.
  int64_t lists[2][(kHasScales<T> ? 2 : 1) * kKeyTile];
  const auto list_tile = [&](int begin, int64_t* offsets) {
    const int count = std::min<int>(kKeyTile, item.end_key - begin);
    if (count > 0) ListKeys(kv, begin, count, offsets);
    if constexpr (kHasScales<T>) ListScales(offsets, count, dim, offsets + kKeyTile);
    return std::max(count, 0);
  };
  const auto scale_rows = [&](const int64_t* offsets) {
    return kHasScales<T> ? offsets + kKeyTile : nullptr;
  };
  const int64_t head_rows = kHasScales<T> ? kv.head_stride() / dim : 0;
  const float* const k_scales = kHasScales<T> ? call.k_scales + first_head * head_rows : nullptr;
  const float* const v_scales = kHasScales<T> ? call.v_scales + first_head * head_rows : nullptr;
  int64_t* offsets = lists[0];
  int64_t* next_offsets = lists[1];
  int count = list_tile(item.first_key, offsets);
  for (int begin = item.first_key; begin < item.end_key; begin += kKeyTile) {
    const int next_count = list_tile(begin + kKeyTile, next_offsets);
    const KvRows<T> first_v{v_pool, offsets, std::min(segment, count), v_scales,
                            scale_rows(offsets)};
    const KvRows<T> next_k{k_pool, next_offsets, std::min(segment, next_count), k_scales,
                           scale_rows(next_offsets)};
    const auto walk = [&](const T* pool, const float* scales, const KvRows<T>& after,
                          const auto& use) HWY_ATTR {
      const auto piece = [&](int key, int head) HWY_ATTR {
        KvRows<T> rows{pool + head * kv.head_stride(), offsets + key,
                       std::min(segment, count - key)};
        if constexpr (kHasScales<T>) {
          rows.scales = scales + head * head_rows;
          rows.scale_rows = scale_rows(offsets) + key;
        }
        return rows;
      };
      for (int key = 0; key < count; key += segment) {
        for (int head = 0; head < heads; ++head) {
          const bool last = key + segment >= count;
          const KvRows<T> next = head + 1 < heads ? piece(key, head + 1)
                                 : last           ? after
                                                  : piece(key + segment, 0);
          use(RowsAhead<T>{piece(key, head), next, distance}, key, head);
        }
      }
    };
    walk(k_pool, k_scales, first_v, [&](const RowsAhead<T>& rows, int key, int head) HWY_ATTR {
      float* const scores = work.scores() + head * score_rows + key;
      Rows::Scores(rows, dim, work.q() + head * kRows * dim, scores);
      if constexpr (kHasScales<T>) Rows::ApplyScales(rows, scores);
    });
    for (int row = 0; row < heads * kRows; ++row) {
      const float factor = SoftmaxTile(work.scores() + row * AttentionWorkspace::kScoreRow, count,
                                       work.largest()[row], work.sum()[row]);
      if (factor != 1.0f) Rescale(factor, dim, work.out() + row * dim);
    }
    walk(v_pool, v_scales, next_k, [&](const RowsAhead<T>& rows, int key, int head) HWY_ATTR {
      float* const weights = work.scores() + head * score_rows + key;
      if constexpr (kHasScales<T>) Rows::ApplyScales(rows, weights);
      Rows::Accumulate(rows, dim, weights, work.out() + head * kRows * dim);
    });
    std::swap(offsets, next_offsets);
    count = next_count;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#endif
