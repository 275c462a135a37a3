#pragma once

// Included before hwy/foreach_target.h in every vector source: the instruction sets that kernels
// are compiled for.
// - Our kernels keep vectors in arrays, which the scalable vectors of SVE and RISC-V do not allow;
//   such machines run the next best target (NEON).
// - AVX3_DL adds nothing over AVX3 that the kernels use, nor SSE4 much over SSSE3; each would be
//   another copy to build.
#include "hwy/detect_targets.h"

// Sanitizers instrument every copy and take minutes to compile them, so theirs are AVX2, which a
// machine with AVX-512 runs there, and plain C++.
#undef HWY_DISABLED_TARGETS
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KVBENCH_SANITIZER_TARGETS (HWY_AVX3 | HWY_SSE4)
#else
#define KVBENCH_SANITIZER_TARGETS 0
#endif
#define HWY_DISABLED_TARGETS                                                             \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_AVX3_DL | HWY_SSSE3 | \
   HWY_SSE4 | KVBENCH_SANITIZER_TARGETS)

// Before loops over arrays of vectors, which stay in memory where the loop stays one.
#define KVBENCH_UNROLL _Pragma("GCC unroll 32")
