#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kvbench {

/// The physical blocks of a paged cache: a last-in, first-out list of free block numbers, so that a
/// block just given back (still warm) is the next one taken. Take and give are O(1) and never
/// allocate memory.
class BlockPool {
 public:
  explicit BlockPool(int32_t num_blocks)
      : num_blocks_(num_blocks), free_(static_cast<size_t>(num_blocks)) {
    // Block 0 is taken first.
    std::iota(free_.rbegin(), free_.rend(), 0);
  }

  int32_t num_blocks() const { return num_blocks_; }
  int32_t num_free() const { return static_cast<int32_t>(free_.size()); }

  /// Precondition: num_free() > 0.
  int32_t Take() {
    assert(!free_.empty());
    const int32_t block = free_.back();
    free_.pop_back();
    return block;
  }

  /// Precondition: the block was taken from this pool and not given back since.
  void Give(int32_t block) {
    assert(block >= 0 && block < num_blocks_ && num_free() < num_blocks_);
    free_.push_back(block);
  }

 private:
  int32_t num_blocks_;
  std::vector<int32_t> free_;
};

}  // namespace kvbench
