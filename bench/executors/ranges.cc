#include "bench/executors/ranges.h"

namespace kvbench {

const std::array<RangeInfo, kNumRangeKinds>& RangeInfos() {
  static constexpr std::array<RangeInfo, kNumRangeKinds> kInfos = {{
      {RangeKind::kRun, "run", "run", {"run"}},
      {RangeKind::kBookkeeping, "bookkeeping", "bookkeeping", {"step"}},
      {RangeKind::kStep, "step", "step", {"sequences", "step"}},
      {RangeKind::kPrefill, "prefill", "phase", {"tokens", "sequences", "blocks"}},
      {RangeKind::kDecode, "decode", "phase", {"tokens", "sequences", "blocks"}},
      {RangeKind::kMixed, "mixed", "phase", {"tokens", "sequences", "blocks"}},
      {RangeKind::kPlan, "plan", "plan", {"sequences"}},
      {RangeKind::kLayer, "layer", "layer", {"layer"}},
      {RangeKind::kDense, "dense", "dense", {"tokens"}},
      {RangeKind::kCacheWrite, "cache_write", "cache_write", {"tokens"}},
      {RangeKind::kAttention, "attention", "attention", {"blocks", "tokens", "sequences"}},
      {RangeKind::kVerify, "verify", "verify", {"step"}},
  }};
  return kInfos;
}

const RangeInfo& InfoOf(RangeKind kind) { return RangeInfos()[static_cast<size_t>(kind)]; }

RangeKind PhaseOf(const StepLoad& load) {
  return load.prefills == 0  ? RangeKind::kDecode
         : load.decodes == 0 ? RangeKind::kPrefill
                             : RangeKind::kMixed;
}

void Ranges::BeginRun() {
  if (sinks_.empty()) {
    return;
  }
  on_ = true;
  steps_ = 0;
  for (RangeSink* const sink : sinks_) {
    sink->BeginRun(label_);
  }
  PushOn(RangeKind::kRun, {number_});
}

void Ranges::EndRun() {
  while (depth_ > 0) {
    PopOn();
  }
  on_ = false;
  in_bookkeeping_ = false;
}

void Ranges::BeginStep(const StepLoad& load) {
  if (!on_) {
    return;
  }
  if (in_bookkeeping_) {
    in_bookkeeping_ = false;
    PopOn();
  }
  PushOn(RangeKind::kStep, {load.sequences(), steps_});
  ++steps_;
}

void Ranges::PushOn(RangeKind kind, const RangeArgs& args) {
  for (RangeSink* const sink : sinks_) {
    sink->Begin(kind, args);
  }
  ++depth_;  // last: a sink that has no room throws, and what is open stays balanced
}

void Ranges::PopOn() {
  --depth_;
  for (size_t i = sinks_.size(); i > 0; --i) {
    sinks_[i - 1]->End();
  }
}

}  // namespace kvbench
