#include "kernels/cuda/all_kernels.h"
#include "kernels/cuda/attention_merge.h"
#include "kernels/cuda/attention_mma.h"
#include "kernels/cuda/block_copy.h"
#include "kernels/cuda/decode_cores.h"
#include "kernels/cuda/dummy_weights.h"
#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/kv_write.h"
#include "kernels/cuda/read_roof.h"
#include "kernels/cuda/rms_norm.h"
#include "kernels/cuda/rope.h"
#include "kernels/cuda/vllm_v1.h"

namespace kvbench {

namespace {

KernelTable AllKernels() {
  KernelTable table;
  AddDecodeCoresKernels(table);
  AddAttentionMmaKernels(table);
  AddAttentionMergeKernels(table);
  AddBlockCopyKernels(table);
  AddDummyWeightsKernels(table);
  AddElementwiseKernels(table);
  AddKvWriteKernels(table);
  AddReadRoofKernels(table);
  AddRmsNormKernels(table);
  AddRopeKernels(table);
  AddVllmV1Kernels(table);
  return table;
}

}  // namespace

#if defined(__CUDACC__)
KernelTable CudaKernels() { return AllKernels(); }
#else
KernelTable SimulatorKernels() { return AllKernels(); }
#endif

}  // namespace kvbench
