#include "kernels/cuda/kernel_entry.h"
#include "kernels/cuda/rms_norm.h"

namespace kvbench {
inline namespace KV_SPACE {

void AddRmsNormKernels(KernelTable& table) {
  AddKernel<RmsNorm<Fp16, false>>(table, "rms_norm/fp16");
  AddKernel<RmsNorm<Bf16, false>>(table, "rms_norm/bf16");
  AddKernel<RmsNorm<Fp16, true>>(table, "add_rms_norm/fp16");
  AddKernel<RmsNorm<Bf16, true>>(table, "add_rms_norm/bf16");
}

}  // namespace KV_SPACE
}  // namespace kvbench
