#include "baselines/contiguous_cache.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <string>

namespace kvbench {

ContiguousCache::ContiguousCache(Reservation reservation, int64_t slots, int64_t max_model_len)
    : reservation_(reservation),
      max_model_len_(max_model_len),
      buddies_(slots / kUnitSlots, ChunkUnits(max_model_len)) {
  usage_.free = buddies_.units() * kUnitSlots;
}

int64_t ContiguousCache::ReservedSlots(int64_t prompt_tokens, int64_t output_tokens) const {
  switch (reservation_) {
    case Reservation::kMax:
      return max_model_len_;
    case Reservation::kPow2:
      output_tokens = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(output_tokens)));
      break;
    case Reservation::kOracle:
      break;
  }
  return std::min(prompt_tokens + output_tokens, max_model_len_);
}

AdmitResult ContiguousCache::Admit(const Admission& admission) {
  if (admission.final_length > max_model_len_) {
    return AdmitResult::NeverFits("prompt and output exceed max_model_len " +
                                  std::to_string(max_model_len_));
  }
  const int64_t wanted =
      ReservedSlots(admission.final_length - admission.estimate, admission.estimate);
  const int64_t chunk_units = ChunkUnits(wanted);
  if (chunk_units > buddies_.largest_chunk_units()) {
    return AdmitResult::NeverFits("the chunk is larger than the cache's largest, " +
                                  std::to_string(buddies_.largest_chunk_units() * kUnitSlots) +
                                  " slots");
  }
  const int64_t offset = buddies_.Allocate(chunk_units);
  if (offset == BuddyAllocator::kNone) {
    return AdmitResult::Wait();
  }
  const auto index = static_cast<size_t>(admission.sequence);
  if (index >= sequences_.size()) {
    sequences_.resize(index + 1);
  }
  Sequence& s = sequences_[index];
  assert(s.chunk_units == 0);
  s.offset_units = offset;
  s.chunk_units = chunk_units;
  s.part.live = admission.tokens;
  s.part.reserved = admission.final_length - admission.tokens;
  s.part.overestimate = wanted - admission.final_length;
  s.part.rounding = chunk_units * kUnitSlots - wanted;
  usage_.live += s.part.live;
  usage_.reserved += s.part.reserved;
  usage_.overestimate += s.part.overestimate;
  usage_.rounding += s.part.rounding;
  usage_.free -= chunk_units * kUnitSlots;
  s.part.live -= growth_;
  s.part.reserved += growth_;
  ++held_;
  return AdmitResult::Fits();
}

bool ContiguousCache::Extend(SequenceId sequence, int64_t n) {
  Sequence& s = sequences_[static_cast<size_t>(sequence)];
  assert(s.chunk_units > 0 && n <= s.part.reserved - growth_);
  s.part.live += n;
  s.part.reserved -= n;
  usage_.live += n;
  usage_.reserved -= n;
  return true;
}

UsageSeries ContiguousCache::ExtendAll(int64_t n) {
  growth_ += n;
  return TakeSteps(usage_, {.live = held_, .reserved = -held_}, n);
}

void ContiguousCache::Release(SequenceId sequence) {
  Sequence& s = sequences_[static_cast<size_t>(sequence)];
  assert(s.chunk_units > 0);
  buddies_.Free(s.offset_units, s.chunk_units);
  usage_.live -= s.part.live + growth_;
  usage_.reserved -= s.part.reserved - growth_;
  --held_;
  usage_.overestimate -= s.part.overestimate;
  usage_.rounding -= s.part.rounding;
  usage_.free += s.chunk_units * kUnitSlots;
  s = Sequence{};
}

SlotView ContiguousCache::slots(SequenceId sequence) const {
  const Sequence& s = sequences_[static_cast<size_t>(sequence)];
  SlotView view;
  view.first_slot = s.offset_units * kUnitSlots;
  view.chunk_slots = s.chunk_units * kUnitSlots;
  return view;
}

std::string_view ContiguousCache::design() const {
  switch (reservation_) {
    case Reservation::kMax:
      return "contiguous-max";
    case Reservation::kPow2:
      return "contiguous-pow2";
    case Reservation::kOracle:
      return "contiguous-oracle";
  }
  return "contiguous";
}

}  // namespace kvbench
