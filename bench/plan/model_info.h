#pragma once

#include <cstdint>

#include "results/record/record.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

/// The `model` object of a record: a shape with the dtypes that one run stores it in.
ModelInfo DescribeModel(const ModelShape& model, Dtype kv_cache_dtype, Dtype dtype,
                        int64_t weight_bytes);

}  // namespace kvbench
