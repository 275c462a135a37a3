#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace kvbench {

/// The memory of a simulated device. Every allocation lies between guard zones; what a kernel
/// touches must lie in one allocation.
class GlobalMemory {
 public:
  GlobalMemory() = default;
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;
  ~GlobalMemory();

  /// Filled with 0xff, which is NaN in every floating-point type. From kSparseBytes on the memory
  /// is zeros, and pages that nobody touches cost nothing. Throws std::bad_alloc.
  void* Allocate(size_t bytes, std::string name = {});
  /// Precondition: from Allocate. Throws std::logic_error where a guard zone was written.
  void Free(void* memory);

  /// Whether [address, address + bytes) lies in an allocation.
  bool Contains(const void* address, size_t bytes) const;
  /// The allocation before or around an address, for messages.
  std::string Describe(const void* address) const;
  /// The name of an allocation that was written outside of its bounds; empty where none was.
  std::string BrokenGuard() const;

  static constexpr size_t kGuard = 256;
  static constexpr size_t kSparseBytes = size_t{1} << 28;

 private:
  struct Block {
    size_t bytes = 0;
    size_t mapped = 0;
    uint8_t* begin = nullptr;  // of the mapping
    std::string name;
  };
  static bool GuardsIntact(uintptr_t address, const Block& block);

  std::map<uintptr_t, Block> blocks_;
  mutable uintptr_t last_begin_ = 0;  // the block found last
  mutable uintptr_t last_end_ = 0;
};

}  // namespace kvbench
