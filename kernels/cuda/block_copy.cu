#include "kernels/cuda/block_copy.h"
#include "kernels/cuda/kernel_entry.h"

namespace kvbench {
inline namespace KV_SPACE {

void AddBlockCopyKernels(KernelTable& table) {
  AddKernel<BlockCopy>(table, "block_copy");
  AddKernel<BlockSwap<true>>(table, "block_gather");
  AddKernel<BlockSwap<false>>(table, "block_scatter");
}

}  // namespace KV_SPACE
}  // namespace kvbench
