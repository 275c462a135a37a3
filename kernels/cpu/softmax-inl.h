// The online softmax of attention, compiled once for each target.

#if defined(KVBENCH_KERNELS_CPU_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KVBENCH_KERNELS_CPU_SOFTMAX_INL_H_
#undef KVBENCH_KERNELS_CPU_SOFTMAX_INL_H_
#else
#define KVBENCH_KERNELS_CPU_SOFTMAX_INL_H_
#endif

#include <cmath>

#include "hwy/contrib/math/math-inl.h"
#include "kernels/cpu/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {

/// exp of a difference of maxima; 0 for -inf.
HWY_INLINE float ExpScalar(float x) {
  const F32Tag d;
  return hn::GetLane(hn::Exp(d, hn::Set(d, x)));
}

/// Turns the first `count` scores of a tile into exp(score - new largest) and the rest, up to a
/// whole vector, into 0. Returns the factor for what was summed before. `scores` has room for a
/// vector more; count 0 changes nothing.
static HWY_NOINLINE HWY_MAYBE_UNUSED float SoftmaxTile(float* HWY_RESTRICT scores, int count,
                                                       float& largest, float& sum) {
  const F32Tag d;
  if (count == 0) return 1.0f;
  hn::StoreU(hn::Set(d, -INFINITY), d, scores + count);
  F32 top = hn::Set(d, -INFINITY);
  for (int i = 0; i < count; i += kLanes) top = hn::Max(top, hn::LoadU(d, scores + i));
  const float tile_largest = hn::GetLane(hn::MaxOfLanes(d, top));
  const bool raised = tile_largest > largest;
  const float factor = raised ? ExpScalar(largest - tile_largest) : 1.0f;
  if (raised) largest = tile_largest;
  // Scores that are all -inf would give inf - inf below.
  const F32 shift = hn::Set(d, largest == -INFINITY ? 0.0f : largest);
  F32 total = hn::Zero(d);
  for (int i = 0; i < count; i += kLanes) {
    const F32 weight = hn::Exp(d, hn::Sub(hn::LoadU(d, scores + i), shift));
    hn::StoreU(weight, d, scores + i);
    total = hn::Add(total, weight);
  }
  sum = sum * factor + hn::GetLane(hn::SumOfLanes(d, total));
  return factor;
}

/// x[i] *= factor for i < count, a multiple of kLanes.
static HWY_NOINLINE HWY_MAYBE_UNUSED void Rescale(float factor, int count, float* HWY_RESTRICT x) {
  const F32Tag d;
  const F32 factors = hn::Set(d, factor);
  for (int i = 0; i < count; i += kLanes)
    hn::StoreU(hn::Mul(factors, hn::LoadU(d, x + i)), d, x + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#endif
