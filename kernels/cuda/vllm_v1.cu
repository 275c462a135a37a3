#include "kernels/cuda/kernel_entry.h"
#include "kernels/cuda/vllm_v1.h"

namespace kvbench {
inline namespace KV_SPACE {

void AddVllmV1Kernels(KernelTable& table) {
  AddKernel<VllmV1<Fp16, 64>>(table, "vllm_v1/fp16/64");
  AddKernel<VllmV1<Fp16, 128>>(table, "vllm_v1/fp16/128");
  AddKernel<VllmV1<Fp16, 256>>(table, "vllm_v1/fp16/256");
  AddKernel<VllmV1<Bf16, 64>>(table, "vllm_v1/bf16/64");
  AddKernel<VllmV1<Bf16, 128>>(table, "vllm_v1/bf16/128");
  AddKernel<VllmV1<Bf16, 256>>(table, "vllm_v1/bf16/256");
}

}  // namespace KV_SPACE
}  // namespace kvbench
