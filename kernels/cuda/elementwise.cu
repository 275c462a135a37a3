#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/kernel_entry.h"

namespace kvbench {
inline namespace KV_SPACE {

void AddElementwiseKernels(KernelTable& table) {
  AddKernel<SiluMul<Fp16>>(table, "silu_mul/fp16");
  AddKernel<SiluMul<Bf16>>(table, "silu_mul/bf16");
  AddKernel<Convert<Fp16>>(table, "convert/fp16");
  AddKernel<Convert<Bf16>>(table, "convert/bf16");
  AddKernel<Embed>(table, "embed");
}

}  // namespace KV_SPACE
}  // namespace kvbench
