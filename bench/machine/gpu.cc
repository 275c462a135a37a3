#include "bench/machine/gpu.h"

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/cuda/device_read_roof.h"

#if KVBENCH_HAS_CUDA
#include "kernels/cuda/cuda_device.h"
#endif

namespace kvbench {

#if KVBENCH_HAS_CUDA

GpuSurvey SurveyGpus() {
  GpuSurvey survey;
  survey.built_with_cuda = true;
  try {
    survey.gpus = ListCudaDevices();
  } catch (const CudaError& error) {
    survey.problem = error.what();
  }
  return survey;
}

std::unique_ptr<Device> OpenGpu() {
  const GpuSurvey survey = SurveyGpus();
  if (survey.gpus.empty()) {
    throw Error(fmt::format("this machine has no GPU that CUDA can use{}; run it "
                            "on one with an NVIDIA GPU and its driver, or use --executor cpu or "
                            "modelled",
                            survey.problem.empty() ? "" : " (" + survey.problem + ")"),
                Error::Kind::kMachine);
  }
  try {
    return OpenCudaDevice(0);
  } catch (const CudaError& error) {
    throw Error(error.what(), Error::Kind::kMachine);
  }
}

std::optional<std::string> CudaVersion() { return CudaRuntimeVersion(); }

#else

GpuSurvey SurveyGpus() { return {}; }

std::unique_ptr<Device> OpenGpu() {
  throw Error(
      "this kvbench was built without CUDA; install the CUDA toolkit (12.8 or "
      "newer) and build again, or use --executor cpu or modelled",
      Error::Kind::kMachine);
}

std::optional<std::string> CudaVersion() { return std::nullopt; }

#endif

std::optional<double> MeasureReadRoof(Device& device) {
  constexpr int kRounds = 9;
  try {
    DeviceReadRoof roof(device, DeviceReadRoof::GoodBytes(device));
    return roof.Median(kRounds);
  } catch (const DeviceMemoryError&) {
    return std::nullopt;
  }
}

GpuInfo DescribeGpu(const DeviceProperties& properties) {
  GpuInfo info;
  info.name = properties.name;
  info.memory_bytes = properties.memory_bytes;
  if (!properties.driver.empty()) {
    info.driver = properties.driver;
  }
  if (properties.compute_capability > 0) {
    info.compute_capability = fmt::format("{}.{}", properties.compute_capability / 10,
                                          properties.compute_capability % 10);
  }
  if (properties.l2_bytes > 0) {
    info.l2_bytes = properties.l2_bytes;
  }
  return info;
}

}  // namespace kvbench
