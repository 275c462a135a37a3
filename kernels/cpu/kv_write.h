#pragma once

#include "kernels/attention.h"
#include "kernels/cpu/thread_pool.h"

namespace kvbench {

/// Writes the K and V of a step's new tokens into one layer's pools: query j of a sequence goes to
/// position context - num_queries + j. Rounds to nearest even, the same bits as kernels/float16.h.
void WriteKv(ThreadPool& pool, const KvWriteCall& call);

}  // namespace kvbench
