#include "baselines/buddy_allocator.h"

#include <bit>
#include <cassert>
#include <cstddef>

namespace kvbench {

namespace {
int OrderOf(int64_t chunk_units) { return std::countr_zero(static_cast<uint64_t>(chunk_units)); }
}  // namespace

BuddyAllocator::BuddyAllocator(int64_t units, int64_t max_chunk_units)
    : units_(units),
      max_order_(OrderOf(max_chunk_units)),
      heads_(static_cast<size_t>(max_order_) + 1, -1),
      links_(static_cast<size_t>(units)),
      free_order_(static_cast<size_t>(units), -1) {
  assert(std::has_single_bit(static_cast<uint64_t>(max_chunk_units)));
  // Descending sizes keep every chunk aligned to its size, which XOR relies on.
  int64_t offset = 0;
  for (int order = max_order_; order >= 0; --order) {
    for (const int64_t size = int64_t{1} << order; units - offset >= size; offset += size) {
      largest_chunk_units_ = largest_chunk_units_ == 0 ? size : largest_chunk_units_;
      Push(offset, order);
    }
  }
}

int64_t BuddyAllocator::Allocate(int64_t chunk_units) {
  assert(std::has_single_bit(static_cast<uint64_t>(chunk_units)));
  const int wanted = OrderOf(chunk_units);
  int order = wanted;
  while (order <= max_order_ && heads_[static_cast<size_t>(order)] < 0) {
    ++order;
  }
  if (order > max_order_) {
    return kNone;
  }
  const int64_t offset = heads_[static_cast<size_t>(order)];
  Remove(offset, order);
  while (order > wanted) {
    --order;
    Push(offset + (int64_t{1} << order), order);
  }
  return offset;
}

void BuddyAllocator::Free(int64_t offset, int64_t chunk_units) {
  int order = OrderOf(chunk_units);
  while (order < max_order_) {
    const int64_t buddy = offset ^ (int64_t{1} << order);
    if (buddy >= units_ || free_order_[static_cast<size_t>(buddy)] != order) {
      break;
    }
    Remove(buddy, order);
    offset = offset < buddy ? offset : buddy;
    ++order;
  }
  Push(offset, order);
}

void BuddyAllocator::Push(int64_t offset, int order) {
  int32_t& head = heads_[static_cast<size_t>(order)];
  links_[static_cast<size_t>(offset)] = {.next = head, .previous = -1};
  if (head >= 0) {
    links_[static_cast<size_t>(head)].previous = static_cast<int32_t>(offset);
  }
  head = static_cast<int32_t>(offset);
  free_order_[static_cast<size_t>(offset)] = static_cast<int8_t>(order);
  free_units_ += int64_t{1} << order;
}

void BuddyAllocator::Remove(int64_t offset, int order) {
  const Links links = links_[static_cast<size_t>(offset)];
  if (links.previous >= 0) {
    links_[static_cast<size_t>(links.previous)].next = links.next;
  } else {
    heads_[static_cast<size_t>(order)] = links.next;
  }
  if (links.next >= 0) {
    links_[static_cast<size_t>(links.next)].previous = links.previous;
  }
  free_order_[static_cast<size_t>(offset)] = -1;
  free_units_ -= int64_t{1} << order;
}

}  // namespace kvbench
