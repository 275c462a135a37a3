#pragma once

#include <cstdint>

#include "kernels/cpu/attention_item.h"

namespace kvbench {

/// Merges the partial results of one output row: partial rows first_row, first_row + row_stride,
/// ... `pieces` of them. Pieces that saw no key count for nothing; if none saw any, the row is 0.
/// @param out [head_dim]
void MergePartialRow(const AttentionPartials& partials, int64_t first_row, int64_t row_stride,
                     int32_t pieces, int32_t head_dim, float* out);

}  // namespace kvbench
