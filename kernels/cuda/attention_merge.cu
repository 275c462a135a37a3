#include "kernels/cuda/attention_merge.h"
#include "kernels/cuda/kernel_entry.h"

namespace kvbench {
inline namespace KV_SPACE {

void AddAttentionMergeKernels(KernelTable& table) {
  AddKernel<AttentionMerge>(table, "attention-merge");
}

}  // namespace KV_SPACE
}  // namespace kvbench
