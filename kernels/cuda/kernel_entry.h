#pragma once

#include <string>

#include "kernels/cuda/kernel_table.h"
#include "kernels/cuda/vocabulary.h"

/// Turns a kernel's struct into something to launch. A kernel is a struct with
///   struct Params            trivially copyable: all that it is told
///   static constexpr int kThreads      of a CTA
///   static constexpr int kCtasPerSm    at least so many fit an SM: bounds the registers
///   KV_DEVICE static void Run(const Params&)
namespace kvbench {
inline namespace KV_SPACE {

#if defined(__CUDACC__)
template <typename K>
__global__ void __launch_bounds__(K::kThreads, K::kCtasPerSm)
    KernelEntry(const __grid_constant__ typename K::Params params) {
  K::Run(params);
}
#else
template <typename K>
void KernelEntry(const void* params) {
  K::Run(*static_cast<const typename K::Params*>(params));
}
#endif

template <typename K>
void AddKernel(KernelTable& table, std::string name, int shared_bytes = 0) {
  static_assert(std::is_trivially_copyable_v<typename K::Params>);
  table.Add({.name = std::move(name),
             .entry = reinterpret_cast<const void*>(&KernelEntry<K>),
             .threads = K::kThreads,
             .parameter_bytes = sizeof(typename K::Params),
             .shared_bytes = shared_bytes});
}

}  // namespace KV_SPACE
}  // namespace kvbench
