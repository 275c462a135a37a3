#include "cache/paged_cache.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string>

namespace kvbench {

PagedCache::PagedCache(int64_t slots, int32_t block_size)
    : block_size_(block_size),
      pool_(static_cast<int32_t>(slots / block_size)),
      // floor(1 %) in integers: 0.01 * 100 would already be a question of rounding.
      watermark_blocks_(pool_.num_blocks() / 100),
      buckets_(static_cast<size_t>(block_size)) {}

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
  Sequence& s = sequences_[index];
  assert(s.blocks.empty());
  s.before_growth = admission.tokens - growth_;
  // Room for the table at its full length, so that growing allocates no memory.
  if (static_cast<size_t>(final_blocks) > s.blocks.capacity()) {
    s.blocks.reserve(std::max(static_cast<size_t>(final_blocks), 2 * s.blocks.capacity()));
  }
  TakeBlocks(s, blocks);
  Enter(admission.sequence, s, blocks * block_size_ - admission.tokens);
  live_ += admission.tokens;
  ++held_;
  return AdmitResult::Fits();
}

bool PagedCache::Extend(SequenceId sequence, int64_t n) {
  Sequence& s = sequences_[static_cast<size_t>(sequence)];
  assert(!s.blocks.empty());
  // The bucket says how many tokens the last block still takes: most tokens need no division.
  int64_t room = static_cast<int64_t>(full_) - s.bucket;
  room += room < 0 ? block_size_ : 0;
  const int64_t blocks = n <= room ? 0 : BlocksFor(n - room);
  if (blocks > pool_.num_free()) {
    return false;
  }
  Leave(s);
  s.before_growth += n;
  Enter(sequence, s, room + blocks * block_size_ - n);
  TakeBlocks(s, blocks);
  live_ += n;
  return true;
}

int64_t PagedCache::EqualSteps(int64_t limit) const {
  if (held_ == 0) {
    return limit;
  }
  // In block_size steps every sequence takes one block.
  const int64_t rounds = pool_.num_free() / held_;
  int64_t steps = rounds * block_size_;
  int64_t free = pool_.num_free() - rounds * held_;
  for (size_t bucket = full_; steps < limit; bucket = Before(bucket)) {
    free -= static_cast<int64_t>(buckets_[bucket].size());
    if (free < 0) {
      return steps;
    }
    ++steps;
  }
  return limit;
}

size_t PagedCache::Before(size_t bucket) const {
  return bucket == 0 ? buckets_.size() - 1 : bucket - 1;
}

UsageSeries PagedCache::ExtendAll(int64_t n) {
  UsageSeries series;
  for (int64_t step = 0; step < n; ++step) {
    for (const SequenceId id : buckets_[full_]) {
      TakeBlocks(sequences_[static_cast<size_t>(id)], 1);
    }
    full_ = Before(full_);
    ++growth_;
    live_ += held_;
    series.sum.live += live_;
    series.sum.free += pool_.num_free();
    series.moment.live += step * live_;
    series.moment.free += step * pool_.num_free();
  }
  const auto complete = [&](Usage& usage, int64_t weights) {
    usage.free *= block_size_;
    usage.rounding = weights * capacity_slots() - usage.free - usage.live;
  };
  complete(series.sum, n);
  complete(series.moment, n * (n - 1) / 2);
  return series;
}

void PagedCache::Enter(SequenceId id, Sequence& s, int64_t room) {
  const int64_t bucket = static_cast<int64_t>(full_) - room;
  s.bucket = static_cast<int32_t>(bucket < 0 ? bucket + block_size_ : bucket);
  std::vector<SequenceId>& members = buckets_[static_cast<size_t>(s.bucket)];
  s.place = static_cast<int32_t>(members.size());
  members.push_back(id);
}

void PagedCache::Leave(const Sequence& s) {
  std::vector<SequenceId>& members = buckets_[static_cast<size_t>(s.bucket)];
  const SequenceId last = members.back();
  members[static_cast<size_t>(s.place)] = last;
  sequences_[static_cast<size_t>(last)].place = s.place;
  members.pop_back();
}

void PagedCache::TakeBlocks(Sequence& sequence, int64_t blocks) {
  for (int64_t i = 0; i < blocks; ++i) {
    sequence.blocks.push_back(pool_.Take());
  }
}

void PagedCache::Release(SequenceId sequence) {
  Sequence& s = sequences_[static_cast<size_t>(sequence)];
  assert(!s.blocks.empty());
  Leave(s);
  // Last block first, so that the next sequence takes the blocks in their old order.
  while (!s.blocks.empty()) {
    pool_.Give(s.blocks.back());
    s.blocks.pop_back();
  }
  live_ -= TokensOf(s);
  --held_;
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
