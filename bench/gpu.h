#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/device.h"
#include "results/record.h"

namespace kvbench {

/// The GPUs of this machine, as far as this build can see them.
struct GpuSurvey {
  bool built_with_cuda = false;
  std::vector<DeviceProperties> gpus;
  std::string problem;  ///< CUDA's words where it cannot say
};
GpuSurvey SurveyGpus();

/// The first GPU. Throws Error (kMachine) saying that this program was built without CUDA, or that
/// there is no GPU that it can use, and what to do about it.
std::unique_ptr<Device> OpenGpu();

/// The CUDA runtime that this program is built with; nothing without.
std::optional<std::string> CudaVersion();

/// A device as the record describes it.
GpuInfo DescribeGpu(const DeviceProperties& properties);

}  // namespace kvbench
