#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/engine/step_batch.h"

namespace kvbench {

/// What a measured run does, as profilers and timelines show it. They nest:
///   run > bookkeeping
///   run > step > prefill, decode or mixed > plan, layer, dense (the LM head)
///                                           layer > dense, cache_write, attention, verify
/// docs/profiling.md says what each one is; tests/bench compare them with it.
enum class RangeKind : uint8_t {
  kRun,
  kBookkeeping,
  kStep,
  kPrefill,
  kDecode,
  kMixed,
  kPlan,
  kLayer,
  kDense,
  kCacheWrite,
  kAttention,
  kVerify,
};
constexpr size_t kNumRangeKinds = 12;

/// A range's numbers, in the order of RangeInfo::args.
constexpr size_t kMostRangeArgs = 3;
using RangeArgs = std::array<int64_t, kMostRangeArgs>;

struct RangeInfo {
  RangeKind kind;
  std::string_view name;
  std::string_view category;
  /// What its numbers are called; "": not used. The first one is the NVTX payload.
  std::array<std::string_view, kMostRangeArgs> args;
};
/// All kinds, in the order of the enumeration.
const std::array<RangeInfo, kNumRangeKinds>& RangeInfos();
const RangeInfo& InfoOf(RangeKind kind);

/// What a step is called: prefill or decode where all its entries are, else mixed.
RangeKind PhaseOf(const StepLoad& load);

/// Where ranges go: a profiler, a file of events. Called by the thread that runs the engine, Begin
/// and End balanced.
class RangeSink {
 public:
  virtual ~RangeSink() = default;

  /// A run begins; its ranges follow. `label` names it.
  virtual void BeginRun(const std::string& label) = 0;
  virtual void Begin(RangeKind kind, const RangeArgs& args) = 0;
  virtual void End() = 0;
};

/// The ranges of one run. Without sinks, and outside BeginRun and EndRun (while an executor warms
/// up), a range costs a branch.
class Ranges {
 public:
  Ranges() = default;
  /// `label` names the run and `number` counts it; the sinks must outlive this.
  Ranges(std::vector<RangeSink*> sinks, std::string label, int64_t number)
      : sinks_(std::move(sinks)), label_(std::move(label)), number_(number) {}

  bool on() const { return on_; }

  /// The measured region begins: opens "run".
  void BeginRun();
  /// Ends whatever is open.
  void EndRun();

  /// What the engine does between two steps: opens "bookkeeping" unless it is open.
  void BeginBookkeeping() {
    if (on_ && !in_bookkeeping_) {
      in_bookkeeping_ = true;
      PushOn(RangeKind::kBookkeeping, {steps_});
    }
  }
  /// Closes "bookkeeping" and opens "step", which Pop ends.
  void BeginStep(const StepLoad& load);

  void Push(RangeKind kind, const RangeArgs& args) {
    if (on_) {
      PushOn(kind, args);
    }
  }
  void Pop() {
    if (on_) {
      PopOn();
    }
  }

  /// Steps begun: one less is the number of the present one.
  int64_t steps() const { return steps_; }

 private:
  void PushOn(RangeKind kind, const RangeArgs& args);
  void PopOn();

  std::vector<RangeSink*> sinks_;
  std::string label_;
  int64_t number_ = 0;
  int64_t steps_ = 0;
  int64_t depth_ = 0;
  bool on_ = false;
  bool in_bookkeeping_ = false;
};

/// A range as long as this object. `ranges` may be null.
class ScopedRange {
 public:
  ScopedRange(Ranges* ranges, RangeKind kind, const RangeArgs& args)
      : ranges_(ranges != nullptr && ranges->on() ? ranges : nullptr) {
    if (ranges_ != nullptr) {
      ranges_->Push(kind, args);
    }
  }
  ScopedRange(const ScopedRange&) = delete;
  ScopedRange& operator=(const ScopedRange&) = delete;
  ~ScopedRange() {
    if (ranges_ != nullptr) {
      ranges_->Pop();
    }
  }

 private:
  Ranges* ranges_;
};

}  // namespace kvbench
