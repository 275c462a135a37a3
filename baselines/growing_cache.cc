#include "baselines/growing_cache.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string>

namespace kvbench {

GrowingCache::GrowingCache(Growth growth, int64_t slots, int64_t max_model_len)
    : growth_(growth),
      max_model_len_(max_model_len),
      buddies_(slots / kUnitSlots, ChunkUnits(max_model_len)) {
  usage_.free = buddies_.units() * kUnitSlots;
}

AdmitResult GrowingCache::Admit(const Admission& admission) {
  if (admission.final_length > max_model_len_) {
    return AdmitResult::NeverFits("prompt and output exceed max_model_len " +
                                  std::to_string(max_model_len_));
  }
  // What is alone in the cache must get on. With kDouble it may be preempted where it finds no next
  // chunk beside its own, and has room for one more token when it has been admitted again.
  const int64_t last_units = ChunkUnits(admission.final_length);
  if (last_units * (growth_ == Growth::kConcat ? 2 : 1) > buddies_.units()) {
    return AdmitResult::NeverFits(
        std::string(growth_ == Growth::kConcat ? "the chunk and its copy are" : "the chunk is") +
        " larger than the cache's " + std::to_string(buddies_.units() * kUnitSlots) + " slots");
  }
  const int64_t wanted = growth_ == Growth::kConcat
                             ? admission.tokens
                             : std::max(admission.tokens, admission.known + 1);
  const int64_t chunk_units = ChunkUnits(wanted);
  if (growth_ == Growth::kConcat && 2 * (held_units_ + chunk_units) > buddies_.units()) {
    return AdmitResult::Wait();
  }
  const int64_t offset_units = buddies_.Allocate(chunk_units);
  if (offset_units == BuddyAllocator::kNone) {
    return AdmitResult::Wait();
  }
  const auto index = static_cast<size_t>(admission.sequence);
  if (index >= sequences_.size()) {
    sequences_.resize(index + 1);
  }
  Sequence& s = sequences_[index];
  assert(s.chunk_units == 0);
  Take(s, offset_units, chunk_units);
  s.live = admission.tokens;
  s.reserved = wanted - admission.tokens;
  usage_.live += s.live;
  usage_.reserved += s.reserved;
  usage_.rounding -= wanted;
  ++held_;
  // Room for a move of each in one step, so that growing allocates no memory.
  if (static_cast<size_t>(held_) > operations_.capacity()) {
    operations_.reserve(2 * static_cast<size_t>(held_));
  }
  return AdmitResult::Fits();
}

bool GrowingCache::Extend(SequenceId sequence, int64_t n) {
  Sequence& s = sequences_[static_cast<size_t>(sequence)];
  assert(s.chunk_units > 0);
  if (growth_ == Growth::kConcat || n > s.room()) {
    const int64_t chunk_units = ChunkUnits(s.live + n);
    const int64_t offset_units = buddies_.Allocate(chunk_units);
    if (offset_units == BuddyAllocator::kNone) {
      return false;
    }
    const SlotRange from = s.range();
    held_units_ -= s.chunk_units;
    Take(s, offset_units, chunk_units);
    operations_.push_back({.kind = Operation::Kind::kMove,
                           .sequence = sequence,
                           .from = from,
                           .to = s.range(),
                           .tokens = s.live});
  }
  Grow(s, n);
  return true;
}

int64_t GrowingCache::EqualSteps(int64_t limit) const {
  for (const Sequence& s : sequences_) {
    if (s.chunk_units > 0) {
      limit = growth_ == Growth::kConcat || s.reserved > 0 ? 0 : std::min(limit, s.room());
    }
  }
  return limit;
}

UsageSeries GrowingCache::ExtendAll(int64_t n) {
  for (Sequence& s : sequences_) {
    s.live += s.chunk_units > 0 ? n : 0;
  }
  return TakeSteps(usage_, {.live = held_, .rounding = -held_}, n);
}

/// A chunk for a sequence, all of it rounding so far.
void GrowingCache::Take(Sequence& sequence, int64_t offset_units, int64_t chunk_units) {
  sequence.offset_units = offset_units;
  sequence.chunk_units = chunk_units;
  held_units_ += chunk_units;
  usage_.rounding += chunk_units * kUnitSlots;
  usage_.free -= chunk_units * kUnitSlots;
}

void GrowingCache::Grow(Sequence& sequence, int64_t n) {
  const int64_t of_known = std::min(n, sequence.reserved);
  sequence.live += n;
  sequence.reserved -= of_known;
  usage_.live += n;
  usage_.reserved -= of_known;
  usage_.rounding -= n - of_known;
}

/// A chunk of which nothing is live or reserved.
void GrowingCache::GiveBack(const SlotRange& chunk) {
  buddies_.Free(chunk.first_slot / kUnitSlots, chunk.slots / kUnitSlots);
  usage_.rounding -= chunk.slots;
  usage_.free += chunk.slots;
}

void GrowingCache::Release(SequenceId sequence) {
  Sequence& s = sequences_[static_cast<size_t>(sequence)];
  assert(s.chunk_units > 0);
  for (const Operation& operation : operations_) {
    if (operation.sequence == sequence) {
      GiveBack(operation.from);
    }
  }
  std::erase_if(operations_, [&](const Operation& o) { return o.sequence == sequence; });
  usage_.live -= s.live;
  usage_.reserved -= s.reserved;
  usage_.rounding += s.live + s.reserved;
  GiveBack(s.range());
  held_units_ -= s.chunk_units;
  --held_;
  s = Sequence{};
}

void GrowingCache::FinishOperations() {
  for (const Operation& operation : operations_) {
    GiveBack(operation.from);
  }
  operations_.clear();
}

SlotView GrowingCache::slots(SequenceId sequence) const {
  const SlotRange chunk = sequences_[static_cast<size_t>(sequence)].range();
  SlotView view;
  view.first_slot = chunk.first_slot;
  view.chunk_slots = chunk.slots;
  return view;
}

}  // namespace kvbench
