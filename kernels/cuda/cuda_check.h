#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kernels/cuda/cuda_device.h"

namespace kvbench {

/// Throws CudaError for what is not cudaSuccess. `what` was asked of CUDA.
inline void CheckCuda(cudaError_t status, const std::string& what) {
  if (status != cudaSuccess) {
    throw CudaError(what + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) +
                    ")");
  }
}

}  // namespace kvbench
