#include <array>

#include "base/error.h"
#include "kernels/cpu/attention_kernel.h"

namespace kvbench {

// The registry: a line for each kernel, the preferred ones first. Each is defined in a file of its
// own.
#define KVBENCH_ATTENTION_KERNELS(KERNEL) \
  KERNEL(kRowsAttention)                  \
  KERNEL(kTilesAttention)

#define KVBENCH_DECLARE(kernel) extern const CpuAttentionKernel kernel;
#define KVBENCH_ADDRESS(kernel) &kernel,
KVBENCH_ATTENTION_KERNELS(KVBENCH_DECLARE)

std::span<const CpuAttentionKernel* const> CpuAttentionKernels() {
  static constexpr std::array kKernels = {KVBENCH_ATTENTION_KERNELS(KVBENCH_ADDRESS)};
  return kKernels;
}

namespace {

/// Null: auto.
const CpuAttentionKernel* Named(std::string_view name) {
  if (name == "auto") return nullptr;
  std::string names = "auto";
  for (const CpuAttentionKernel* kernel : CpuAttentionKernels()) {
    if (kernel->name == name) return kernel;
    names += ", " + std::string(kernel->name);
  }
  throw Error("unknown attention kernel '" + std::string(name) + "': there are " + names);
}

}  // namespace

void CheckCpuAttentionKernelName(std::string_view name) { Named(name); }

const CpuAttentionKernel& FindCpuAttentionKernel(std::string_view name,
                                                 const CpuAttentionShape& shape) {
  if (const CpuAttentionKernel* const kernel = Named(name)) {
    if (kernel->supports(shape)) return *kernel;
    throw Error("--attention-kernel " + std::string(name) + ": it has " +
                std::string(kernel->supported) + ", and this model has " +
                std::to_string(shape.group) + " at head dim " + std::to_string(shape.head_dim));
  }
  for (const CpuAttentionKernel* kernel : CpuAttentionKernels()) {
    if (kernel->supports(shape)) return *kernel;
  }
  throw Error("no CPU attention kernel has " + std::to_string(shape.group) +
              " query heads for each KV head at head dim " + std::to_string(shape.head_dim));
}

}  // namespace kvbench
