// Attention by tiles, of any number of query rows a KV head: prompts, and decodes of odd or large
// groups. A tile of K and V is converted to fp32 once for all rows.

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/attention_kernel.h"
#include "kernels/cpu/rows_ahead.h"
#include "kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_tiles.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "kernels/cpu/multiply-inl.h"
#include "kernels/cpu/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {

/// `scale` counts only where T has scales.
template <typename T>
HWY_INLINE F32 LoadScaled(F32Tag d, const T* HWY_RESTRICT from, float scale) {
  if constexpr (kHasScales<T>) return hn::Mul(LoadF32(d, from), hn::Set(d, scale));
  return LoadF32(d, from);
}

#if HWY_TARGET == HWY_SCALAR

/// keys[i, j] = row[j][i] for four rows. @param keys [dim, tile], moved to the first row's column
template <typename T>
HWY_INLINE void TransposeFour(const T* const* HWY_RESTRICT row, const float* scale, int dim,
                              int tile, float* HWY_RESTRICT keys) {
  const F32Tag d;
  for (int i = 0; i < dim; ++i) {
    for (int j = 0; j < 4; ++j) {
      hn::StoreU(LoadScaled(d, row[j] + i, scale[j]), d, keys + i * tile + j);
    }
  }
}

#else

/// Stores each 128-bit block of v, `stride` floats apart.
template <class D, class V>
HWY_INLINE void StoreBlocks(D d, V v, int64_t stride, float* HWY_RESTRICT to) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    hn::StoreU(v, d, to);
  } else {
    const hn::Half<D> half;
    StoreBlocks(half, hn::LowerHalf(half, v), stride, to);
    StoreBlocks(half, hn::UpperHalf(half, v), stride,
                to + static_cast<int64_t>(hn::MaxLanes(half)) / 4 * stride);
  }
}

/// keys[i, j] = row[j][i] for four rows. @param keys [dim, tile], moved to the first row's column
template <typename T>
HWY_INLINE void TransposeFour(const T* const* HWY_RESTRICT row, const float* scale, int dim,
                              int tile, float* HWY_RESTRICT keys) {
  const F32Tag d;
  const auto low = [&](F32 a, F32 b) HWY_ATTR { return hn::InterleaveLower(d, a, b); };
  const auto high = [&](F32 a, F32 b) HWY_ATTR { return hn::InterleaveUpper(d, a, b); };
  for (int i = 0; i < dim; i += kLanes) {
    const F32 k0 = LoadScaled(d, row[0] + i, scale[0]);
    const F32 k1 = LoadScaled(d, row[1] + i, scale[1]);
    const F32 k2 = LoadScaled(d, row[2] + i, scale[2]);
    const F32 k3 = LoadScaled(d, row[3] + i, scale[3]);
    // 4 x 4 inside each 128-bit block: block b then holds dimension 4 b + (0..3) of the four keys.
    const F32 even_low = low(k0, k2), odd_low = low(k1, k3);
    const F32 even_high = high(k0, k2), odd_high = high(k1, k3);
    float* const to = keys + i * tile;
    StoreBlocks(d, low(even_low, odd_low), 4 * tile, to);
    StoreBlocks(d, high(even_low, odd_low), 4 * tile, to + tile);
    StoreBlocks(d, low(even_high, odd_high), 4 * tile, to + 2 * tile);
    StoreBlocks(d, high(even_high, odd_high), 4 * tile, to + 3 * tile);
  }
}

#endif

/// Converts and transposes K rows: keys[i, key] for key < count (and copies of the last up to a
/// multiple of 4), so that scores need no sums across lanes. @param keys [dim, tile]
template <typename T>
HWY_NOINLINE void ConvertKeys(const KvRows& rows, int dim, int tile, float* HWY_RESTRICT keys,
                              const KvRows& next) {
  for (int key = 0; key < rows.count; key += 4) {
    const T* row[4];
    float scale[4] = {};
    for (int j = 0; j < 4; ++j) {
      const int index = std::min(key + j, rows.count - 1);
      row[j] = rows.Row<T>(index);
      if constexpr (kHasScales<T>) scale[j] = rows.Scale(index);
      RowsAhead{{}, next, 0, {}}.Prefetch<T>(key + j, dim);
    }
    TransposeFour(row, scale, dim, tile, keys + key);
  }
}

/// @param values [count, dim]
template <typename T>
HWY_NOINLINE void ConvertValues(const KvRows& rows, int dim, float* HWY_RESTRICT values,
                                const KvRows& next) {
  const F32Tag d;
  for (int key = 0; key < rows.count; ++key) {
    RowsAhead{{}, next, 0, {}}.Prefetch<T>(key, dim);
    const T* HWY_RESTRICT row = rows.Row<T>(key);
    float scale = 0;
    if constexpr (kHasScales<T>) scale = rows.Scale(key);
    for (int i = 0; i < dim; i += kLanes) {
      hn::StoreU(LoadScaled(d, row + i, scale), d, values + key * dim + i);
    }
  }
}

/// Queries, keys and running results of one KV head against one converted tile.
/// @param first_position position of the item's first query
static HWY_NOINLINE HWY_MAYBE_UNUSED void AttendConvertedTile(const AttentionItem& item, int group,
                                                              int dim, int begin, int count,
                                                              int first_position, int head,
                                                              const AttentionWorkspace& work) {
  const F32Tag d;
  const int rows = item.num_queries * group;
  const int tile = ConvertedTile(dim);
  constexpr int kRow = static_cast<int>(AttentionWorkspace::kScoreRow);
  // Queries before the tile's first key see none of it.
  const int first_query = std::max(0, begin - first_position);
  const int first_row = first_query * group;
  if (first_row >= rows) return;
  const int64_t state = int64_t{head} * rows + first_row;
  float* const scores = work.scores() + first_row * kRow;
  Multiply<false>({work.q() + state * dim, dim}, {work.keys(), tile}, {scores, kRow},
                  {rows - first_row, dim, (count + kLanes - 1) / kLanes * kLanes}, nullptr);
  for (int row = first_row; row < rows; ++row) {
    const int visible = std::min(count, first_position + row / group + 1 - begin);
    float* const weights = work.scores() + row * kRow;
    work.factors()[row] = SoftmaxTile(weights, visible, work.largest()[head * rows + row],
                                      work.sum()[head * rows + row]);
    for (int key = visible; key < count; key += kLanes) hn::StoreU(hn::Zero(d), d, weights + key);
  }
  Multiply<true>({scores, kRow}, {work.values(), dim}, {work.out() + state * dim, dim},
                 {rows - first_row, count, dim}, work.factors() + first_row);
}

template <typename T>
void AttendTiles(const AttentionTask& task) {
  const AttentionCall& call = task.call;
  const AttentionItem& item = task.item;
  const AttentionWorkspace& work = task.work;
  const int dim = call.head_dim;
  const int tile = ConvertedTile(dim);
  const int group = call.num_heads / call.num_kv_heads;
  const AttentionSequence& sequence = call.sequences[static_cast<size_t>(item.sequence)];
  const int first_position = sequence.context - sequence.num_queries + item.first_query;
  const int64_t head_stride = task.kv.head_stride();
  const int64_t head_rows = kHasScales<T> ? head_stride / dim : 0;
  KeyList list;
  for (int begin = item.first_key; begin < item.end_key; begin += tile) {
    const int count = std::min(tile, item.end_key - begin);
    list.Fill(task.kv, begin, count, kHasScales<T> ? dim : 0);
    const auto rows = [&](const void* pool, const float* scales, int head) {
      return KvRows{.pool = static_cast<const T*>(pool) + (task.heads.first + head) * head_stride,
                    .offsets = list.offsets,
                    .count = head < task.heads.count ? count : 0,
                    .scales = scales + (task.heads.first + head) * head_rows,
                    .scale_rows = list.scale_rows};
    };
    for (int head = 0; head < task.heads.count; ++head) {
      ConvertKeys<T>(rows(call.k, call.k_scales, head), dim, tile, work.keys(),
                     rows(call.k, call.k_scales, head + 1));
      ConvertValues<T>(rows(call.v, call.v_scales, head), dim, work.values(),
                       rows(call.v, call.v_scales, head + 1));
      AttendConvertedTile(item, group, dim, begin, count, first_position, head, work);
    }
  }
}

void AttendByTiles(const AttentionTask& task) {
  switch (task.call.kv_type) {
    case KvType::kFp16:
      return AttendTiles<hwy::float16_t>(task);
    case KvType::kBf16:
      return AttendTiles<hwy::bfloat16_t>(task);
    case KvType::kFp32:
      return AttendTiles<float>(task);
    case KvType::kInt8:
      return AttendTiles<int8_t>(task);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvbench {

HWY_EXPORT(AttendByTiles);

extern constexpr CpuAttentionKernel kTilesAttention = {
    .name = "tiles",
    .supports = [](const CpuAttentionShape&) { return true; },
    .supported = "every group",
    .attend =
        [](const AttentionTask& task) {
          HWY_DYNAMIC_DISPATCH(AttendByTiles)
          (task);
        }};

}  // namespace kvbench
#endif
