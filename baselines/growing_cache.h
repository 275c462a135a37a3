#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "baselines/buddy_allocator.h"
#include "cache/kv_cache.h"

namespace kvbench {

/// When a growing sequence moves.
enum class Growth {
  kDouble,  ///< when its chunk is full, as a vector does
  kConcat,  ///< for every token, as concatenating tensors does (Hugging Face's DynamicCache)
};

/// A cache that gives each sequence one contiguous chunk of what it needs now, and a larger one
/// when it grows, to which its tokens are moved. Chunks come from the buddy allocator of the
/// reserving designs: sizes are powers of two of its unit of 16 slots.
///
/// kDouble: the first chunk has room for the prompt (after a preemption for all known tokens) and
/// the newest token, and a full one is followed by one twice as large. kConcat: tensors of exactly
/// the tokens that there are, which the allocator rounds up; every Extend takes a new chunk and
/// moves all tokens, also where the size stays the same. Since all sequences then move in every
/// step, admission leaves as many slots free as chunks take.
///
/// Old and new chunk are both held until the step has run (FinishOperations). The tokens count in
/// the new one, and the whole old one is rounding.
class GrowingCache final : public KvCache {
 public:
  /// `slots` is cut down to whole units. The largest chunk is max_model_len in units, rounded up to
  /// a power of two.
  GrowingCache(Growth growth, int64_t slots, int64_t max_model_len);

  AdmitResult Admit(const Admission& admission) override;
  bool Extend(SequenceId sequence, int64_t n) override;
  bool HasRoom() const override { return true; }
  int64_t EqualSteps(int64_t limit) const override;
  UsageSeries ExtendAll(int64_t n) override;
  void Release(SequenceId sequence) override;
  void FinishOperations() override;
  bool acts() const override { return true; }
  Usage usage() const override { return usage_; }
  SlotView slots(SequenceId sequence) const override;

  int64_t capacity_slots() const override { return usage_.capacity(); }
  std::string_view design() const override { return "contiguous-growing"; }

 private:
  struct Sequence {
    int64_t offset_units = 0;
    int64_t chunk_units = 0;  // 0: holds nothing
    int64_t live = 0;
    int64_t reserved = 0;  // for the rest of its known tokens

    SlotRange range() const { return {offset_units * kUnitSlots, chunk_units * kUnitSlots}; }
    int64_t room() const { return chunk_units * kUnitSlots - live; }
  };

  void Take(Sequence& sequence, int64_t offset_units, int64_t chunk_units);
  void Grow(Sequence& sequence, int64_t n);
  void GiveBack(const SlotRange& chunk);

  Growth growth_;
  int64_t max_model_len_;
  BuddyAllocator buddies_;
  Usage usage_;
  int64_t held_ = 0;                 // sequences
  int64_t held_units_ = 0;           // in their chunks
  std::vector<Sequence> sequences_;  // by SequenceId
};

}  // namespace kvbench
