#pragma once

#include "kernels/cuda/kernel_table.h"

namespace kvbench {

/// All kernels, to launch on a GPU. Only where the CUDA backend is built.
KernelTable CudaKernels();

/// All kernels, to run on the simulator.
KernelTable SimulatorKernels();

}  // namespace kvbench
