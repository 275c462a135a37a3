#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace kvbench {

/// The unit of the contiguous designs in slots, whatever the block size of the paged cache beside
/// them is.
constexpr int64_t kUnitSlots = 16;

/// Units of the smallest chunk that has so many slots: a power of two. Precondition: slots > 0.
constexpr int64_t ChunkUnits(int64_t slots) {
  return static_cast<int64_t>(
      std::bit_ceil(static_cast<uint64_t>((slots + kUnitSlots - 1) / kUnitSlots)));
}

/// A buddy allocator over units: chunks are powers of two of units, a chunk is split in halves down
/// to the size asked for, and two free halves merge again (buddy = offset XOR size). The rules are
/// those that the vLLM paper's artifact gives its Orca baselines: the area is cut greedily into
/// largest chunks, then ever smaller ones; the smallest sufficient free list is used; each list is
/// last in, first out. Allocate and Free take O(log units).
class BuddyAllocator {
 public:
  /// Preconditions: units >= 0, max_chunk_units a power of two.
  BuddyAllocator(int64_t units, int64_t max_chunk_units);

  static constexpr int64_t kNone = -1;

  /// Offset in units of a chunk of `chunk_units` (a power of two), or kNone where no list has one.
  int64_t Allocate(int64_t chunk_units);

  /// Gives a chunk back; offset and size are those of Allocate.
  void Free(int64_t offset, int64_t chunk_units);

  int64_t free_units() const { return free_units_; }
  int64_t units() const { return units_; }

  /// The largest chunk of the empty allocator: nothing larger can ever be had.
  int64_t largest_chunk_units() const { return largest_chunk_units_; }

 private:
  void Push(int64_t offset, int order);
  void Remove(int64_t offset, int order);

  // Free chunks form one doubly linked list for each order; links are stored by offset.
  struct Links {
    int32_t next = -1;
    int32_t previous = -1;
  };

  int64_t units_;
  int max_order_;
  int64_t free_units_ = 0;
  int64_t largest_chunk_units_ = 0;
  std::vector<int32_t> heads_;      // [max_order + 1]
  std::vector<Links> links_;        // [units]
  std::vector<int8_t> free_order_;  // [units]: order of the free chunk that starts here, -1: none
};

}  // namespace kvbench
