#include "kernels/cpu/attention_merge.h"

#include <algorithm>
#include <cmath>

namespace kvbench {

void MergePartialRow(const AttentionPartials& partials, int64_t first_row, int64_t row_stride,
                     int32_t pieces, int32_t head_dim, float* out) {
  const int64_t end_row = first_row + pieces * row_stride;
  float largest = -INFINITY;
  for (int64_t row = first_row; row < end_row; row += row_stride) {
    largest = std::max(largest, partials.largest[row]);
  }
  std::fill(out, out + head_dim, 0.0f);
  if (largest == -INFINITY) return;
  float sum = 0;
  for (int64_t row = first_row; row < end_row; row += row_stride) {
    sum += std::exp(partials.largest[row] - largest) * partials.sum[row];
  }
  for (int64_t row = first_row; row < end_row; row += row_stride) {
    const float weight = std::exp(partials.largest[row] - largest) / sum;
    const float* const piece = partials.out + row * head_dim;
    for (int32_t i = 0; i < head_dim; ++i) out[i] += weight * piece[i];
  }
}

}  // namespace kvbench
