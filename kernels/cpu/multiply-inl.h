// A small matrix product in registers, compiled once for each target.

#if defined(KVBENCH_KERNELS_CPU_MULTIPLY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVBENCH_KERNELS_CPU_MULTIPLY_INL_H_
#undef KVBENCH_KERNELS_CPU_MULTIPLY_INL_H_
#else
#define KVBENCH_KERNELS_CPU_MULTIPLY_INL_H_
#endif

#include <cstdint>

#include "kernels/cpu/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {

/// A row-major matrix: its first element and the floats from one row to the next.
struct MatrixIn {
  const float* data;
  int64_t stride;
};
struct MatrixOut {
  float* data;
  int64_t stride;
};
struct MultiplySize {
  int rows;
  int depth;
  int columns;  ///< a multiple of kLanes
};

/// kRows x (kVectors * kLanes) results held in registers while the depth is walked.
template <bool kAdd, int kRows, int kVectors>
HWY_INLINE void MultiplyBlock(MatrixIn a, MatrixIn b, MatrixOut c, int depth,
                              const float* HWY_RESTRICT factors) {
  const F32Tag d;
  F32 sums[kRows * kVectors];
  KVBENCH_UNROLL
  for (int r = 0; r < kRows; ++r) {
    KVBENCH_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      if constexpr (kAdd) {
        const F32 before = hn::LoadU(d, c.data + r * c.stride + j * kLanes);
        sums[r * kVectors + j] = hn::Mul(hn::Set(d, factors[r]), before);
      } else {
        sums[r * kVectors + j] = hn::Zero(d);
      }
    }
  }
  for (int k = 0; k < depth; ++k) {
    F32 columns[kVectors];
    KVBENCH_UNROLL
    for (int j = 0; j < kVectors; ++j)
      columns[j] = hn::LoadU(d, b.data + k * b.stride + j * kLanes);
    KVBENCH_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const F32 value = hn::Set(d, a.data[r * a.stride + k]);
      KVBENCH_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        sums[r * kVectors + j] = hn::MulAdd(value, columns[j], sums[r * kVectors + j]);
      }
    }
  }
  KVBENCH_UNROLL
  for (int r = 0; r < kRows; ++r) {
    KVBENCH_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      hn::StoreU(sums[r * kVectors + j], d, c.data + r * c.stride + j * kLanes);
    }
  }
}

/// One strip of columns: blocks of kRows rows, then smaller ones for what is left.
template <bool kAdd, int kRows, int kVectors>
HWY_INLINE void MultiplyStrip(MatrixIn a, MatrixIn b, MatrixOut c, int rows, int depth,
                              const float* HWY_RESTRICT factors) {
  int r = 0;
  for (; r + kRows <= rows; r += kRows) {
    MultiplyBlock<kAdd, kRows, kVectors>({a.data + r * a.stride, a.stride}, b,
                                         {c.data + r * c.stride, c.stride}, depth,
                                         kAdd ? factors + r : nullptr);
  }
  if constexpr (kRows > 1) {
    if (r < rows) {
      MultiplyStrip<kAdd, kRows / 2, kVectors>({a.data + r * a.stride, a.stride}, b,
                                               {c.data + r * c.stride, c.stride}, rows - r, depth,
                                               kAdd ? factors + r : nullptr);
    }
  }
}

/// C = A B, or with kAdd: C[r] = factors[r] * C[r] + A[r] B.
/// @param a [rows, depth] @param b [depth, columns] @param c [rows, columns] @param factors [rows]
template <bool kAdd>
HWY_NOINLINE void Multiply(MatrixIn a, MatrixIn b, MatrixOut c, MultiplySize size,
                           const float* factors) {
  int column = 0;
  for (; column + 2 * kLanes <= size.columns; column += 2 * kLanes) {
    MultiplyStrip<kAdd, 4, 2>(a, {b.data + column, b.stride}, {c.data + column, c.stride},
                              size.rows, size.depth, factors);
  }
  if (column < size.columns) {
    MultiplyStrip<kAdd, 4, 1>(a, {b.data + column, b.stride}, {c.data + column, c.stride},
                              size.rows, size.depth, factors);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#endif
