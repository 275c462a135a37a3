#pragma once

#include "kernels/cuda/vocabulary.h"

namespace kvbench {
inline namespace KV_SPACE {

/// Four floats at a 16-byte boundary.
KV_DEVICE void LoadFloats(Global<const float> p, float (&values)[4]) {
  const Vector16 vector = Load16(p);
  for (int i = 0; i < 4; ++i) {
    values[i] = AsFloat(vector.words[i]);
  }
}

KV_DEVICE void StoreFloats(Global<float> p, const float (&values)[4]) {
  Vector16 vector;
  for (int i = 0; i < 4; ++i) {
    vector.words[i] = AsWord(values[i]);
  }
  Store16(p, vector);
}

template <typename T>
KV_DEVICE Vector8 PackFour(const float (&values)[4]) {
  return {{Pack<T>(values[0], values[1]), Pack<T>(values[2], values[3])}};
}

/// Copies `vectors` times 16 bytes, all threads of the CTA together.
KV_DEVICE void CopyVectors(Global<const uint8_t> from, Global<uint8_t> to, int32_t vectors) {
  constexpr int kAhead = 4;  // loads under way in a thread before its first store
  for (int32_t first = ThreadId(); first < vectors; first += kAhead * ThreadCount()) {
    Vector16 held[kAhead];
    for (int i = 0; i < kAhead; ++i) {
      const int32_t at = first + i * ThreadCount();
      held[i] = at < vectors ? Load16(from + int64_t{16} * at) : Vector16{};
    }
    for (int i = 0; i < kAhead; ++i) {
      const int32_t at = first + i * ThreadCount();
      if (at < vectors) {
        Store16(to + int64_t{16} * at, held[i]);
      }
    }
  }
}

}  // namespace KV_SPACE
}  // namespace kvbench
