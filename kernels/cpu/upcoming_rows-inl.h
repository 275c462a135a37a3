// Software prefetch of KV rows, compiled once for each target.

#if defined(KVBENCH_KERNELS_CPU_UPCOMING_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVBENCH_KERNELS_CPU_UPCOMING_ROWS_INL_H_
#undef KVBENCH_KERNELS_CPU_UPCOMING_ROWS_INL_H_
#else
#define KVBENCH_KERNELS_CPU_UPCOMING_ROWS_INL_H_
#endif

#include <cstdint>

#include "hwy/cache_control.h"
#include "kernels/cpu/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {

/// Rows of K or V of one head that will be needed next.
template <typename T>
struct UpcomingRows {
  const T* pool = nullptr;  ///< moved to the head
  const int64_t* offsets = nullptr;
  int count = 0;

  HWY_INLINE void Prefetch(int row, int dim) const {
    if (row >= count) return;
    constexpr int kLine = 64 / static_cast<int>(sizeof(T));
    const T* const from = pool + offsets[row];
    for (int i = 0; i < dim; i += kLine) hwy::Prefetch(from + i);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#endif
