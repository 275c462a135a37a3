#include "kernels/cuda/dummy_weights.h"
#include "kernels/cuda/kernel_entry.h"

namespace kvbench {
inline namespace KV_SPACE {

void AddDummyWeightsKernels(KernelTable& table) {
  AddKernel<DummyWeights<Fp16>>(table, "dummy_weights/fp16");
  AddKernel<DummyWeights<Bf16>>(table, "dummy_weights/bf16");
}

}  // namespace KV_SPACE
}  // namespace kvbench
