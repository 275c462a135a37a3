#pragma once

#include "kernels/cuda/vocabulary.h"

/// Sixteen bytes at a time, as numbers.
namespace kvbench {
inline namespace KV_SPACE {

struct alignas(8) FloatPair {
  float first;
  float second;
};

KV_DEVICE Vector16 FourFloats(float a, float b, float c, float d) {
  return {{AsWord(a), AsWord(b), AsWord(c), AsWord(d)}};
}

/// Eight elements of T.
template <typename T>
KV_DEVICE void UnpackPiece(const Vector16& piece, float (&values)[8]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float pair[2];
    Unpack<T>(piece.words[i], pair);
    values[2 * i] = pair[0];
    values[2 * i + 1] = pair[1];
  }
}

}  // namespace KV_SPACE
}  // namespace kvbench
