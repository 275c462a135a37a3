#include "kernels/cuda/all_kernels.h"
#include "kernels/cuda/attention_merge.h"
#include "kernels/cuda/attention_mma.h"
#include "kernels/cuda/decode_cores.h"

namespace kvbench {

namespace {

KernelTable AllKernels() {
  KernelTable table;
  AddDecodeCoresKernels(table);
  AddAttentionMmaKernels(table);
  AddAttentionMergeKernels(table);
  return table;
}

}  // namespace

#if defined(__CUDACC__)
KernelTable CudaKernels() { return AllKernels(); }
#else
KernelTable SimulatorKernels() { return AllKernels(); }
#endif

}  // namespace kvbench
