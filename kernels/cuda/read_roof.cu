#include "kernels/cuda/kernel_entry.h"
#include "kernels/cuda/read_roof.h"

namespace kvbench {
inline namespace KV_SPACE {

void AddReadRoofKernels(KernelTable& table) { AddKernel<ReadAll>(table, "read_roof"); }

}  // namespace KV_SPACE
}  // namespace kvbench
