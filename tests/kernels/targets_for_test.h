#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/targets.h"
//
#include "hwy/targets.h"

namespace kvbench {

/// Makes the vector kernels use one instruction set until destroyed.
class ScopedTarget {
 public:
  explicit ScopedTarget(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~ScopedTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ScopedTarget(const ScopedTarget&) = delete;
  ScopedTarget& operator=(const ScopedTarget&) = delete;
};

/// Every instruction set that was compiled and runs here, plain C++ included.
inline std::vector<int64_t> RunnableTargets() {
  std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  const int64_t plain = HWY_TARGETS & (HWY_SCALAR | HWY_EMU128);
  bool listed = false;
  for (const int64_t target : targets) listed |= target == plain;
  if (plain != 0 && !listed) targets.push_back(plain);
  return targets;
}

}  // namespace kvbench
