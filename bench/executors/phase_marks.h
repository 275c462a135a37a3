#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bench/executors/measured_executor.h"
#include "kernels/cuda/device.h"

namespace kvbench {

/// Splits the time of a device's queue into phases by events between the work of one and the next.
class PhaseMarks {
 public:
  using Phase = double StepPhases::*;  ///< null: none of them

  explicit PhaseMarks(Device& device) : device_(device) {}

  /// From here on marks are events, or nothing.
  void Begin(bool on) {
    on_ = on;
    marks_.clear();
    End(nullptr);
  }
  /// What was queued since the mark before belongs to this phase.
  void End(Phase phase) {
    if (on_) {
      marks_.emplace_back(device_.Record(), phase);
    }
  }
  /// Adds the seconds between the marks to their phases. The device has done all of them.
  void Collect(StepPhases& phases) const {
    for (size_t i = 1; i < marks_.size(); ++i) {
      if (marks_[i].second != nullptr) {
        phases.*marks_[i].second += device_.SecondsBetween(marks_[i - 1].first, marks_[i].first);
      }
    }
  }

 private:
  Device& device_;
  bool on_ = false;
  std::vector<std::pair<int64_t, Phase>> marks_;
};

}  // namespace kvbench
