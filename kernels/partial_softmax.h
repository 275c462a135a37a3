#pragma once

#include <cmath>

#if defined(__CUDACC__)
#define KV_PARTIAL __device__ __forceinline__
#else
#define KV_PARTIAL inline
#endif

namespace kvbench {

/// The softmax of a query over some of its keys, and how parts that saw other keys become one. Two
/// walks over the parts: Raise for each, then Add, which says what the part's weighted values count
/// in the whole; their sum times Scale() is the result.
///
/// @tparam Math has Exp(float), the base of the weights, and Max(float, float): the CPU's, or in
/// the words of the device vocabulary
template <typename Math>
struct PartialSoftmax {
  float largest = -INFINITY;  ///< score; -INFINITY: of no key
  float sum = 0;              ///< of Exp(score - largest)

  KV_PARTIAL void Raise(float part_largest) { largest = Math::Max(largest, part_largest); }
  KV_PARTIAL float Add(float part_largest, float part_sum) {
    // No part saw a key: every weight is 0.
    const float weight = Math::Exp(part_largest - (largest == -INFINITY ? 0.0F : largest));
    sum += weight * part_sum;
    return weight;
  }
  /// 0 where no part saw a key.
  KV_PARTIAL float Scale() const { return sum > 0 ? 1.0F / sum : 0.0F; }
};

}  // namespace kvbench

#undef KV_PARTIAL
