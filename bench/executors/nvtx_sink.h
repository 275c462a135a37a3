#pragma once

#include <memory>

#include "bench/executors/ranges.h"

namespace kvbench {

/// Ranges for the NVTX tool that is attached to this process (Nsight Systems, Nsight Compute, or
/// whatever NVTX_INJECTION64_PATH names): domain "kvbench", names as registered strings, categories
/// numbered from 1 in the order of RangeInfos(), the first argument as an int64 payload, and a mark
/// with the label where a run begins. Null where no tool is attached, and where the program was
/// built without NVTX's headers (they come with the CUDA toolkit).
std::unique_ptr<RangeSink> MakeNvtxSink();

}  // namespace kvbench
