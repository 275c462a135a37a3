#include "kernels/cuda/all_kernels.h"
#include "kernels/cuda/kernel_entry.h"

namespace kvbench {

namespace {

KernelTable AllKernels() {
  KernelTable table;
  return table;
}

}  // namespace

#if defined(__CUDACC__)
KernelTable CudaKernels() { return AllKernels(); }
#else
KernelTable SimulatorKernels() { return AllKernels(); }
#endif

}  // namespace kvbench
