#pragma once

#include "kernels/cuda/attention_params.h"
#include "kernels/cuda/reductions.h"
#include "kernels/cuda/vectors.h"
#include "kernels/cuda/vocabulary.h"

namespace kvbench {
class KernelTable;
inline namespace KV_SPACE {

/// Merges the parts of queries whose keys were spread over items. A thread has 4 dimensions of one
/// query and head. Grid: (merges, ceil(num_heads x head dim / 4 / kThreads)).
struct AttentionMerge {
  using Params = AttentionMergeParams;
  static constexpr int kThreads = 128;
  static constexpr int kCtasPerSm = 8;

  KV_DEVICE static void Run(const Params& p) {
    const DeviceMerge merge = Load(p.merges + CtaX());
    const int at = (CtaY() * kThreads + ThreadId()) * 4;
    if (at >= p.num_heads * p.head_dim) return;
    const int head = at / p.head_dim;
    // The log of a part's sum is in its lse.
    DevicePartialSoftmax whole;
    for (int i = 0; i < merge.parts; ++i) whole.Raise(Lse(p, merge, i, head));
    float sums[4] = {};
    for (int i = 0; i < merge.parts; ++i) {
      const float weight = whole.Add(Lse(p, merge, i, head), 1);
      const int64_t row = merge.first_partial + int64_t{i} * merge.stride;
      const Vector16 words = Load16(p.partial_out + (row * p.num_heads * p.head_dim + at));
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[j] += weight * FloatOf(words.words[j]);
    }
    const float scale = whole.Scale();
    Store16(p.out + (merge.row * p.num_heads * p.head_dim + at),
            FourFloats(sums[0] * scale, sums[1] * scale, sums[2] * scale, sums[3] * scale));
  }

 private:
  KV_DEVICE static float Lse(const Params& p, const DeviceMerge& merge, int part, int head) {
    return Load(p.partial_lse +
                ((merge.first_partial + int64_t{part} * merge.stride) * p.num_heads + head));
  }
};

void AddAttentionMergeKernels(KernelTable& table);

}  // namespace KV_SPACE
}  // namespace kvbench
