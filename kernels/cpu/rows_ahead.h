#pragma once

#include <cstdint>

#include "kernels/cpu/prefetch_level.h"

namespace kvbench {

/// Whether rows of T are to be multiplied by a scale each.
template <typename T>
constexpr bool kHasScales = sizeof(T) == 1;

/// Rows of K or V of one head.
struct KvRows {
  const void* pool = nullptr;  ///< moved to the head
  const int64_t* offsets = nullptr;
  int count = 0;
  const float* scales = nullptr;  ///< moved to the head; where the type has them
  const int64_t* scale_rows = nullptr;

  template <typename T>
  const T* Row(int row) const {
    return static_cast<const T*>(pool) + offsets[row];
  }
  float Scale(int row) const { return scales[scale_rows[row]]; }
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
struct RowsAhead {
  KvRows now;
  KvRows later;
  int ahead = 0;
  PrefetchPlan plan;

  template <typename T>
  [[gnu::always_inline]] void Prefetch(int row, int dim) const {
    row += ahead;
    const KvRows& rows = row < now.count ? now : later;
    if (row >= now.count) row -= now.count;
    if (row >= rows.count) return;
    const T* const from = rows.Row<T>(row);
    const int step = plan.step / static_cast<int>(sizeof(T));
    if (plan.level == PrefetchLevel::kSecond) {
      for (int i = 0; i < dim; i += step) __builtin_prefetch(from + i, 0, 2);
    } else {
      for (int i = 0; i < dim; i += step) __builtin_prefetch(from + i, 0, 3);
    }
    if constexpr (kHasScales<T>) __builtin_prefetch(rows.scales + rows.scale_rows[row]);
  }
};

}  // namespace kvbench
