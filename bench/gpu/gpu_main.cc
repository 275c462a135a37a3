#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/gpu/nvidia_smi.h"
#include "bench/gpu/program.h"
#include "kernels/cuda/all_kernels.h"
#include "kernels/cuda/cuda_device.h"

namespace {

/// The first GPU.
std::unique_ptr<kvbench::Device> OpenFirst() {
  using kvbench::Error;
  try {
    if (kvbench::ListCudaDevices().empty()) {
      throw Error("this machine has no GPU that CUDA can use", Error::Kind::kMachine);
    }
    return kvbench::OpenCudaDevice(0);
  } catch (const kvbench::CudaError& error) {
    throw Error(std::string("this machine has no GPU that CUDA can use: ") + error.what(),
                Error::Kind::kMachine);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return kvbench::gpu::RunProgram(
      argc, argv,
      {.open = OpenFirst, .kernels = kvbench::CudaKernels, .clocks = kvbench::gpu::ClocksNow},
      std::cout, std::cerr);
}
