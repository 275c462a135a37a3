#pragma once

// Included before hwy/foreach_target.h in every vector source. Our kernels keep vectors in arrays,
// which the scalable vectors of SVE and RISC-V do not allow; such machines run the next best target
// (NEON) instead.
#include "hwy/detect_targets.h"

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
