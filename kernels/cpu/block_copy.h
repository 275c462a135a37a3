#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/thread_pool.h"

namespace kvbench {

struct BlockPair {
  int32_t source = 0;
  int32_t target = 0;
};

/// Copies whole blocks inside each pool, in parallel over pools and pairs.
/// @param pools every layer's K and V pool, each an array of blocks of `block_bytes` bytes
/// @param pairs no target may be a source or target of another pair
void CopyBlocks(ThreadPool& pool, std::span<void* const> pools, int64_t block_bytes,
                std::span<const BlockPair> pairs);

}  // namespace kvbench
