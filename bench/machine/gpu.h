#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/device.h"
#include "results/record/record.h"

namespace kvbench {

/// The GPUs of this machine, as far as this build can see them.
struct GpuSurvey {
  bool built_with_cuda = false;
  std::vector<DeviceProperties> gpus;
  std::string problem;                          ///< CUDA's words where it cannot say
  std::optional<double> read_roof_bytes_per_s;  ///< of the first, where it was measured
};
GpuSurvey SurveyGpus();

/// The first GPU. Throws Error (kMachine) saying that this program was built without CUDA, or that
/// there is no GPU that it can use, and what to do about it.
std::unique_ptr<Device> OpenGpu();

/// Bytes per second that a device reads from its memory, measured in some milliseconds; nothing
/// where it has no memory free for that.
std::optional<double> MeasureReadRoof(Device& device);

/// The CUDA runtime that this program is built with; nothing without.
std::optional<std::string> CudaVersion();

/// A device as the record describes it.
GpuInfo DescribeGpu(const DeviceProperties& properties);

}  // namespace kvbench
