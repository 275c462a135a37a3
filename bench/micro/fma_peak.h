#pragma once

#include "kernels/cpu/thread_pool.h"

namespace kvbench::micro {

/// FLOP/s (a fused multiply-add is two) that the pool's threads reach together on fp32 vectors in
/// registers, with the widest instructions that the kernels use here. Takes a few milliseconds.
double MeasureFmaPeak(ThreadPool& pool);

}  // namespace kvbench::micro
