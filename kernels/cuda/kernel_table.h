#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace kvbench {

/// A kernel as host code sees it: what to call and what it needs.
struct Kernel {
  std::string name;
  const void* entry = nullptr;  ///< CUDA: the __global__ function; simulator: void (*)(const void*)
  int32_t threads = 0;          ///< of a CTA
  size_t parameter_bytes = 0;
  int32_t shared_bytes = 0;  ///< of dynamic shared memory; what depends on the call comes on top
};

/// All kernels of one world (the GPU's or the simulator's), by name. Kernels of the two worlds are
/// compiled from the same sources and have the same names.
class KernelTable {
 public:
  void Add(Kernel kernel) {
    index_.emplace(kernel.name, kernels_.size());
    kernels_.push_back(std::move(kernel));
  }
  /// Null if there is none of that name.
  const Kernel* Find(const std::string& name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &kernels_[found->second];
  }
  const std::vector<Kernel>& all() const { return kernels_; }

 private:
  std::vector<Kernel> kernels_;
  std::unordered_map<std::string, size_t> index_;
};

}  // namespace kvbench
