#pragma once

#include "kernels/attention.h"
#include "kernels/cpu/rows_ahead.h"

namespace kvbench {

/// What attention by rows does with vectors, for one element type, one group size and the
/// instruction set of this machine.
struct RowFunctions {
  int lanes = 0;  ///< floats of a vector
  /// scores[r, key] = q[r] . K[key] for the keys of rows.now, and garbage behind.
  /// @param q [group, dim] @param scores [group, AttentionWorkspace::kScoreRow]
  void (*scores)(const RowsAhead& rows, int dim, const float* q, float* scores);
  /// values[r, key] *= scale of row key. Null where the type has no scales.
  /// @param in_vectors `lanes` keys from a multiple of `lanes` on have their scales side by side
  void (*apply_scales)(const RowsAhead& rows, bool in_vectors, float* values);
  /// SoftmaxTile of softmax-inl.h.
  float (*softmax)(float* scores, int count, float& largest, float& sum);
  /// x[i] *= factor.
  void (*rescale)(float factor, int count, float* x);
  /// out[r] += sum over keys of weights[r, key] * V[key].
  void (*accumulate)(const RowsAhead& rows, int dim, const float* weights, float* out);
};

/// Null for other groups than 1, 2, 4 and 8, and where the machine has no vectors.
const RowFunctions* RowFunctionsFor(KvType type, int group);

}  // namespace kvbench
