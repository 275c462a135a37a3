#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/attention_item.h"
#include "kernels/cpu/attention_rows.h"
#include "kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_row_functions.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "kernels/cpu/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

const RowFunctions* RowFunctionsHere(KvType, int) { return nullptr; }

#else

/// Lane i of the result is the sum of the lanes of v[i]; v has kLanes vectors and is used up.
HWY_INLINE F32 SumOfEach(F32* HWY_RESTRICT v) {
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
  [[gnu::aligned(64)]] static HWY_NOINLINE void Scores(const RowsAhead& rows, int dim,
                                                       const float* HWY_RESTRICT q,
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
  static HWY_NOINLINE void ApplyScales(const RowsAhead& rows, bool in_vectors,
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
  [[gnu::aligned(64)]] static HWY_NOINLINE void Accumulate(const RowsAhead& rows, int dim,
                                                           const float* HWY_RESTRICT weights,
                                                           float* HWY_RESTRICT out) {
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
  static HWY_INLINE void ScoresOf(const RowsAhead& rows, Dim dim, const float* HWY_RESTRICT q,
                                  float* HWY_RESTRICT scores) {
    const F32Tag d;
    const int count = rows.now.count;
    for (int key = 0; key < count; key += kKeys) {
      const T* HWY_RESTRICT row[kKeys];
      for (int j = 0; j < kKeys; ++j) {
        row[j] = rows.now.Row<T>(std::min(key + j, count - 1));
        if (kRows > 1) rows.Prefetch<T>(key + j, dim);
      }
      for (int first = 0; first < kRows; first += kRowsAtOnce) {
        F32 sums[kSums];
        for (F32& sum : sums) sum = hn::Zero(d);
        if constexpr (kRows == 1) {
          // Row by row, as memory has them, and so the prefetches. Not more than four rows are
          // unrolled: their sums wait in memory.
          constexpr int kFour = std::min(kKeys, 4);
#pragma GCC unroll 1
          for (int four = 0; four < kKeys; four += kFour) {
            KVBENCH_UNROLL
            for (int j = four; j < four + kFour; ++j) {
              rows.Prefetch<T>(key + j, dim);
              sums[j] = Dot(row[j], q, dim);
            }
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
  static HWY_INLINE int AccumulateColumns(const RowsAhead& rows, int dim, int begin,
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
      const T* const column = static_cast<const T*>(rows.now.pool) + i;
      for (int key = 0; key < rows.now.count; ++key) {
        if (i == 0) rows.Prefetch<T>(key, dim);
        const T* HWY_RESTRICT row = column + rows.now.offsets[key];
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

template <typename T, int kRows>
const RowFunctions* FunctionsOf() {
  using Rows = FewRows<T, kRows>;
  static constexpr RowFunctions kFunctions = {
      kLanes,       &Rows::Scores, kHasScales<T> ? &Rows::ApplyScales : nullptr,
      &SoftmaxTile, &Rescale,      &Rows::Accumulate};
  return &kFunctions;
}

template <typename T>
const RowFunctions* FunctionsOf(int group) {
  switch (group) {
    case 1:
      return FunctionsOf<T, 1>();
    case 2:
      return FunctionsOf<T, 2>();
    case 4:
      return FunctionsOf<T, 4>();
    case 8:
      return FunctionsOf<T, 8>();
    default:
      return nullptr;
  }
}

const RowFunctions* RowFunctionsHere(KvType type, int group) {
  switch (type) {
    case KvType::kFp16:
      return FunctionsOf<hwy::float16_t>(group);
    case KvType::kBf16:
      return FunctionsOf<hwy::bfloat16_t>(group);
    case KvType::kFp32:
      return FunctionsOf<float>(group);
    case KvType::kInt8:
      return FunctionsOf<int8_t>(group);
  }
  return nullptr;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvbench {

HWY_EXPORT(RowFunctionsHere);

const RowFunctions* RowFunctionsFor(KvType type, int group) {
  return HWY_DYNAMIC_DISPATCH(RowFunctionsHere)(type, group);
}

}  // namespace kvbench
#endif
