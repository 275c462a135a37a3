#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "baselines/buddy_allocator.h"
#include "cache/kv_cache.h"

namespace kvbench {

/// How many output tokens a contiguous design reserves for: the three Orca variants of the vLLM
/// paper.
enum class Reservation {
  kMax,     ///< up to max_model_len, whatever the request says
  kPow2,    ///< the next power of two of the true output length (25 -> 32)
  kOracle,  ///< the true output length
};

/// A cache that reserves one contiguous chunk for each sequence at admission: min(P + estimate,
/// max_model_len) slots, rounded up by a buddy allocator. Reserved for good: Extend never fails and
/// nothing is ever preempted.
class ContiguousCache final : public KvCache {
 public:
  /// `slots` is cut down to whole units. The largest chunk is max_model_len in units, rounded up to
  /// a power of two.
  ContiguousCache(Reservation reservation, int64_t slots, int64_t max_model_len);

  AdmitResult Admit(const Admission& admission) override;
  bool Extend(SequenceId sequence, int64_t n) override;
  bool HasRoom() const override { return true; }
  int64_t EqualSteps(int64_t limit) const override { return limit; }
  UsageSeries ExtendAll(int64_t n) override;
  void Release(SequenceId sequence) override;
  Usage usage() const override { return usage_; }
  SlotView slots(SequenceId sequence) const override;

  int64_t capacity_slots() const override { return usage_.capacity(); }
  std::string_view design() const override;

  /// Slots that the design wants for a sequence before rounding: min(P + estimate, max_model_len).
  int64_t ReservedSlots(int64_t prompt_tokens, int64_t output_tokens) const;

 private:
  struct Sequence {
    int64_t offset_units = 0;
    int64_t chunk_units = 0;  // 0: holds nothing
    // This sequence's share of the usage, without what it gained by ExtendAll.
    Usage part;
  };

  Reservation reservation_;
  int64_t max_model_len_;
  BuddyAllocator buddies_;
  Usage usage_;
  int64_t held_ = 0;                 // sequences
  int64_t growth_ = 0;               // tokens that every sequence has gained by ExtendAll
  std::vector<Sequence> sequences_;  // by SequenceId
};

}  // namespace kvbench
