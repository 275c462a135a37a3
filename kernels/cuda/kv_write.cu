#include "kernels/cuda/kernel_entry.h"
#include "kernels/cuda/kv_write.h"

namespace kvbench {
inline namespace KV_SPACE {

void AddKvWriteKernels(KernelTable& table) {
  AddKernel<KvWrite<Fp16>>(table, "kv_write/fp16");
  AddKernel<KvWrite<Bf16>>(table, "kv_write/bf16");
}

}  // namespace KV_SPACE
}  // namespace kvbench
