#pragma once

#include <cstdint>

#include "bench/executors/cpu_roofs.h"
#include "bench/executors/step_time_model.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

/// The step times of this machine's CPU, from roofs measured with the kernels that the cpu executor
/// runs; CpuRoofs says how they add up. `block_size` is that of the cache, 0 for contiguous
/// designs: the roofs must have been measured for it. Without dense layers attention and KV write
/// remain.
StepTimeModel MakeCpuTimeModel(const CpuRoofs& roofs, const ModelShape& model, Dtype kv_dtype,
                               bool dense, int32_t block_size);

}  // namespace kvbench
