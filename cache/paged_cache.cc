#include "cache/paged_cache.h"

#include <cassert>
#include <cstddef>
#include <string>

namespace kvbench {

PagedCache::PagedCache(int64_t slots, int32_t block_size)
    : block_size_(block_size),
      pool_(static_cast<int32_t>(slots / block_size)),
      // floor(1 %) in integers: 0.01 * 100 would already be a question of rounding.
      watermark_blocks_(pool_.num_blocks() / 100) {}

AdmitResult PagedCache::Admit(const Admission& admission) {
  const int64_t final_blocks = BlocksFor(admission.final_length);
  if (final_blocks + watermark_blocks_ > pool_.num_blocks()) {
    return AdmitResult::NeverFits("the blocks and the watermark exceed the cache's " +
                                  std::to_string(pool_.num_blocks()) + " blocks of " +
                                  std::to_string(block_size_) + " tokens");
  }
  const int64_t blocks = BlocksFor(admission.tokens);
  if (pool_.num_free() - blocks < watermark_blocks_) {
    return AdmitResult::Wait();
  }
  const auto index = static_cast<size_t>(admission.sequence);
  if (index >= sequences_.size()) {
    sequences_.resize(index + 1);
  }
  assert(sequences_[index].tokens == 0);
  Grow(sequences_[index], admission.tokens, blocks);
  return AdmitResult::Fits();
}

bool PagedCache::Extend(SequenceId sequence, int64_t n) {
  Sequence& s = sequences_[static_cast<size_t>(sequence)];
  assert(s.tokens > 0);
  const int64_t blocks = BlocksFor(s.tokens + n) - static_cast<int64_t>(s.blocks.size());
  if (blocks > pool_.num_free()) {
    return false;
  }
  Grow(s, n, blocks);
  return true;
}

void PagedCache::Grow(Sequence& sequence, int64_t tokens, int64_t blocks) {
  for (int64_t i = 0; i < blocks; ++i) {
    sequence.blocks.push_back(pool_.Take());
  }
  sequence.tokens += tokens;
  live_ += tokens;
}

void PagedCache::Release(SequenceId sequence) {
  Sequence& s = sequences_[static_cast<size_t>(sequence)];
  assert(s.tokens > 0);
  // Last block first, so that the next sequence takes the blocks in their old order.
  while (!s.blocks.empty()) {
    pool_.Give(s.blocks.back());
    s.blocks.pop_back();
  }
  live_ -= s.tokens;
  s.tokens = 0;
}

Usage PagedCache::usage() const {
  Usage usage;
  usage.live = live_;
  usage.free = int64_t{pool_.num_free()} * block_size_;
  usage.rounding = capacity_slots() - usage.free - live_;
  return usage;
}

SlotView PagedCache::slots(SequenceId sequence) const {
  SlotView view;
  view.blocks = sequences_[static_cast<size_t>(sequence)].blocks;
  view.block_size = block_size_;
  return view;
}

}  // namespace kvbench
