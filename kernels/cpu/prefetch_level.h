#pragma once

#include <cstdint>

namespace kvbench {

/// The cache that software prefetches bring KV into.
enum class PrefetchLevel : int32_t { kFirst, kSecond };

/// The level that reads scattered pieces of memory faster on this machine, measured when first
/// asked for (some milliseconds) and then kept. A prefetch into the first level holds one of its
/// few miss buffers until the line is there, which leaves none to the loads; where there are
/// buffers enough the first level is as good or better, and is taken unless the second is faster by
/// a tenth.
PrefetchLevel FasterPrefetchLevel();

}  // namespace kvbench
