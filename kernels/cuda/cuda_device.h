#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/device.h"

namespace kvbench {

/// What CUDA refused, in its own words.
class CudaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The GPUs that CUDA finds, in its order; none is an empty list where there is a driver. Throws
/// CudaError where there is not, or CUDA cannot say. Only where the CUDA backend is built.
std::vector<DeviceProperties> ListCudaDevices();

/// The CUDA runtime that the backend is built with: "13.0".
std::string CudaRuntimeVersion();

/// A GPU by the CUDA runtime: one stream, dense layers by cuBLASLt. Numbers are those of
/// ListCudaDevices. Throws CudaError, also where the backend was not built for the GPU's
/// architecture.
std::unique_ptr<Device> OpenCudaDevice(int number);

}  // namespace kvbench
