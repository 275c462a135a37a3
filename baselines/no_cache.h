#pragma once

#include <cstdint>
#include <string_view>

#include "cache/kv_cache.h"

namespace kvbench {

/// No cache at all: no token is kept, every step computes the whole context of every sequence
/// again. Takes whoever comes and holds nothing, so that a table can show what the KV cache itself
/// buys.
class NoCache final : public KvCache {
 public:
  AdmitResult Admit(const Admission&) override { return AdmitResult::Fits(); }
  bool Extend(SequenceId, int64_t) override { return true; }
  bool HasRoom() const override { return true; }
  int64_t EqualSteps(int64_t limit) const override { return limit; }
  UsageSeries ExtendAll(int64_t) override { return {}; }
  void Release(SequenceId) override {}
  Usage usage() const override { return {}; }
  SlotView slots(SequenceId) const override { return {}; }
  int64_t capacity_slots() const override { return 0; }
  bool keeps_tokens() const override { return false; }
  std::string_view design() const override { return "none"; }
};

}  // namespace kvbench
