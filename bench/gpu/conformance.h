#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/gpu/time_budget.h"
#include "kernels/checks/kernel_check.h"
#include "kernels/cuda/kernel_table.h"

namespace kvbench::gpu {

/// What the checks of one kernel came to.
struct CheckedKernel {
  std::string name;
  int64_t checks = 0;  ///< that launched it
  int64_t failed = 0;
};

struct ConformanceResult {
  int64_t checks = 0;  ///< that were run
  int64_t planned = 0;
  std::vector<CheckedKernel> kernels;  ///< those that were launched, by name
  std::vector<std::string> failures;   ///< a sentence each, with the kernels' names
  std::vector<std::string> unchecked;  ///< kernels that nothing launched; empty in a cut run
  bool right() const { return failures.empty() && unchecked.empty(); }
};

/// Runs checks, one after the other, and notes which kernels they launched. What a device throws is
/// a failure of that check, and ends the run: a GPU does nothing more after a fault. @param table
/// the kernels that should all be seen
ConformanceResult RunConformance(Device& device, const KernelTable& table,
                                 const std::vector<KernelCheck>& checks, TimeBudget& budget,
                                 const std::function<void(const ConformanceResult&)>& progress);

}  // namespace kvbench::gpu
