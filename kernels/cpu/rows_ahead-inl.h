// Software prefetch of KV rows, compiled once for each target.

#if defined(KVBENCH_KERNELS_CPU_ROWS_AHEAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVBENCH_KERNELS_CPU_ROWS_AHEAD_INL_H_
#undef KVBENCH_KERNELS_CPU_ROWS_AHEAD_INL_H_
#else
#define KVBENCH_KERNELS_CPU_ROWS_AHEAD_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/cache_control.h"
#include "kernels/cpu/convert-inl.h"
#include "kernels/cpu/prefetch_level.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {

/// Whether rows of T are to be multiplied by a scale each.
template <typename T>
constexpr bool kHasScales = sizeof(T) == 1;

/// Rows of K or V of one head.
template <typename T>
struct KvRows {
  const T* pool = nullptr;  ///< moved to the head
  const int64_t* offsets = nullptr;
  int count = 0;
  const float* scales = nullptr;  ///< moved to the head; where T has them
  const int64_t* scale_rows = nullptr;

  HWY_INLINE float Scale(int row) const { return scales[scale_rows[row]]; }
};

/// Which lines of the rows to come are prefetched, and to where.
struct PrefetchPlan {
  PrefetchLevel level = PrefetchLevel::kFirst;
  /// Bytes from one prefetched line to the next: a line, or more where the hardware, which sees
  /// prefetches as it sees loads, brings the lines between.
  int step = 64;
};

/// Rows in use, and the piece that follows or comes somewhat later. Using row i prefetches the row
/// `ahead` rows further on: one of the same piece, or beyond its end one of the later piece.
template <typename T>
struct RowsAhead {
  KvRows<T> now;
  KvRows<T> later;
  int ahead = 0;
  PrefetchPlan plan;

  HWY_INLINE void Prefetch(int row, int dim) const {
    row += ahead;
    const KvRows<T>& rows = row < now.count ? now : later;
    if (row >= now.count) row -= now.count;
    if (row >= rows.count) return;
    const T* const from = rows.pool + rows.offsets[row];
    const int step = plan.step / static_cast<int>(sizeof(T));
    if (plan.level == PrefetchLevel::kSecond) {
      for (int i = 0; i < dim; i += step) __builtin_prefetch(from + i, 0, 2);
    } else {
      for (int i = 0; i < dim; i += step) __builtin_prefetch(from + i, 0, 3);
    }
    if constexpr (kHasScales<T>) hwy::Prefetch(rows.scales + rows.scale_rows[row]);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#endif
