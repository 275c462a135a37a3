#pragma once

#include <cstdint>

#include "bench/plan/memory_plan.h"

namespace kvbench {

/// A decode step as a roofline has it: modelled, never measured.
struct DecodeEstimate {
  int64_t weight_bytes = 0;  ///< that one device reads in a step
  int64_t kv_bytes = 0;      ///< that one device reads in a step
  double step_s = 0;
  double output_tokens_per_s = 0;  ///< of the whole batch
};

/// The share of the peak memory bandwidth that a decode step is taken to reach; 80 to 92 % is what
/// kernels reach in practice.
inline constexpr double kReachedBandwidth = 0.8;

/// One step of `batch` sequences that have `context` tokens each: every device reads its weights
/// (of routed experts the expected share) and its KV once at 80 % of the peak bandwidth.
/// Computation and the links between devices are left out, so large batches come out too fast.
DecodeEstimate EstimateDecode(const MemoryPlanInput& input, int64_t context, int64_t batch);

/// US dollars for a million output tokens when every device costs so many an hour.
double CostOfMillionTokens(const MemoryPlanInput& input, const DecodeEstimate& estimate,
                           double gpu_hour_price);

}  // namespace kvbench
