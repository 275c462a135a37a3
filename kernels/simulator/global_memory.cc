#include "kernels/simulator/global_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

namespace kvbench {

namespace {
constexpr uint8_t kGuardByte = 0xa5;
}  // namespace

GlobalMemory::~GlobalMemory() {
  for (auto& [address, block] : blocks_) {
    munmap(block.begin, block.mapped);
  }
}

void* GlobalMemory::Allocate(size_t bytes, std::string name) {
  const size_t mapped = bytes + 2 * kGuard;
  void* const begin = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) {
    throw std::bad_alloc();
  }
  Block block{.bytes = bytes,
              .mapped = mapped,
              .begin = static_cast<uint8_t*>(begin),
              .name = std::move(name)};
  uint8_t* const memory = block.begin + kGuard;
  std::memset(block.begin, kGuardByte, kGuard);
  std::memset(memory + bytes, kGuardByte, kGuard);
  if (bytes < kSparseBytes) {
    std::memset(memory, 0xff, bytes);
  }
  blocks_.emplace(reinterpret_cast<uintptr_t>(memory), std::move(block));
  return memory;
}

bool GlobalMemory::GuardsIntact(uintptr_t address, const Block& block) {
  const auto intact = [](const uint8_t* guard) {
    return std::all_of(guard, guard + kGuard, [](uint8_t byte) { return byte == kGuardByte; });
  };
  return intact(block.begin) &&
         intact(block.begin + (address - reinterpret_cast<uintptr_t>(block.begin)) + block.bytes);
}

void GlobalMemory::Free(void* memory) {
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(memory));
  if (found == blocks_.end()) {
    throw std::logic_error("freeing what was not allocated");
  }
  const bool intact = GuardsIntact(found->first, found->second);
  const std::string name = found->second.name;
  munmap(found->second.begin, found->second.mapped);
  blocks_.erase(found);
  last_begin_ = last_end_ = 0;
  if (!intact) {
    throw std::logic_error("memory around '" + name + "' was written");
  }
}

bool GlobalMemory::Contains(const void* address, size_t bytes) const {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  if (begin >= last_begin_ && begin + bytes <= last_end_) {
    return true;
  }
  auto next = blocks_.upper_bound(begin);
  if (next == blocks_.begin()) {
    return false;
  }
  const auto& [block_begin, block] = *std::prev(next);
  if (begin + bytes > block_begin + block.bytes) {
    return false;
  }
  last_begin_ = block_begin;
  last_end_ = block_begin + block.bytes;
  return true;
}

std::string GlobalMemory::Describe(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  auto next = blocks_.upper_bound(at);
  if (next == blocks_.begin()) {
    return "no allocation";
  }
  const auto& [begin, block] = *std::prev(next);
  return "byte " + std::to_string(at - begin) + " of '" + block.name + "', which has " +
         std::to_string(block.bytes);
}

std::string GlobalMemory::BrokenGuard() const {
  for (const auto& [address, block] : blocks_) {
    if (!GuardsIntact(address, block)) {
      return block.name.empty() ? "an allocation" : block.name;
    }
  }
  return {};
}

}  // namespace kvbench
