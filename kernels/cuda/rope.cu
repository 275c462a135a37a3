#include "kernels/cuda/kernel_entry.h"
#include "kernels/cuda/rope.h"

namespace kvbench {
inline namespace KV_SPACE {

void AddRopeKernels(KernelTable& table) { AddKernel<Rope>(table, "rope"); }

}  // namespace KV_SPACE
}  // namespace kvbench
