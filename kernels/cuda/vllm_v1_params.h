#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/attention_params.h"

namespace kvbench {

/// The kernel takes AttentionParams: each item has one query of a sequence and all keys that it
/// sees, first_key = 0; partial rows and scale are as there, the partial arrays unused. Grid:
/// [items, num_heads].
using VllmV1Params = AttentionParams;

constexpr int kVllmV1Warps = 4;

/// Dynamic shared memory of a CTA: partial sums, and a logit for each key of the longest item. This
/// is what bounds the context: 48 KiB hold about 12,000 keys, 227 KiB about 57,000.
constexpr size_t VllmV1SharedBytes(int32_t largest_context, int32_t head_dim) {
  return sizeof(float) * (2 * kVllmV1Warps + static_cast<size_t>(kVllmV1Warps * head_dim) +
                          static_cast<size_t>(largest_context));
}

}  // namespace kvbench
