#pragma once

#include "kernels/cuda/vocabulary.h"
#include "kernels/partial_softmax.h"

namespace kvbench {
inline namespace KV_SPACE {

struct Sum {
  KV_DEVICE static float Of(float a, float b) { return a + b; }
};
struct Largest {
  KV_DEVICE static float Of(float a, float b) { return Max(a, b); }
};

/// Softmax in powers of two.
struct PowersOfTwo {
  KV_DEVICE static float Exp(float x) { return Exp2(x); }
  KV_DEVICE static float Max(float a, float b) { return KV_SPACE::Max(a, b); }
};
using DevicePartialSoftmax = PartialSoftmax<PowersOfTwo>;

/// Op over lanes that differ in the bits from kFrom up: in every lane, each sum in the same order.
template <class Op, int kFrom = 1>
KV_DEVICE float ReduceWarp(float value) {
  for (int lanes = kWarpSize / 2; lanes >= kFrom; lanes /= 2) {
    value = Op::Of(value, ShuffleXor(value, lanes));
  }
  return value;
}

/// Op over all threads of the CTA, in each of them. All of them call it.
/// @param scratch [kWarps] floats that nothing else uses between the barriers before and after
template <class Op, int kWarps>
KV_DEVICE float ReduceCta(float value, Shared<float> scratch) {
  value = ReduceWarp<Op>(value);
  if (LaneId() == 0) {
    Store(scratch + WarpId(), value);
  }
  SyncCta();
  value = Load(scratch);
  for (int warp = 1; warp < kWarps; ++warp) {
    value = Op::Of(value, Load(scratch + warp));
  }
  return value;
}

}  // namespace KV_SPACE
}  // namespace kvbench
