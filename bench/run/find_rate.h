#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "bench/run/run_once.h"
#include "bench/run/run_plan.h"
#include "results/record/record.h"

namespace kvbench {

/// What a run at one rate says about the goal of a search.
enum class RateVerdict {
  kHolds,
  kHoldsEverywhere,  ///< and no higher rate can be tried, or would change anything
  kMisses,
  kMissesEverywhere,  ///< and no lower rate can be tried, or would change anything
};

/// What a search came to.
struct RateBounds {
  std::optional<double> holds;   ///< highest rate tried that holds; nothing: none does
  std::optional<double> misses;  ///< lowest rate tried above it that misses; nothing: none does
  int64_t runs = 0;              ///< tried
};

/// Searches the highest rate that holds a goal: doubles (or halves) from `start` until one rate
/// holds and the next misses, then bisects until they are `tolerance` of the lower one apart. Rates
/// after the first are rounded to five digits. `start` > 0; `verdict` is asked once for each rate.
RateBounds SearchRate(double start, double tolerance,
                      const std::function<RateVerdict(double rate)>& verdict);

/// The run that a search found.
struct FoundRate {
  /// At bounds.holds where a rate was found; otherwise of the last rate that was tried. Its last
  /// note says goal, tolerance and the number of runs tried, or that there is no such rate and why.
  RunRecord record;
  RateBounds bounds;

  bool found() const { return bounds.holds && bounds.misses; }
};

/// Searches the highest request rate at which a planned run holds spec.find_rate, from spec.rate
/// on, to spec.rate_tolerance. `on_try` is told each rate before it runs; may be empty. No rate is
/// found, and the record says so, where the goal holds even with all requests at once (or, with a
/// duration, at the most requests that can be tried), and where it is missed even by requests that
/// run alone. Nothing when options.on_step stopped it. Throws Error as RunOnce does.
std::optional<FoundRate> FindRate(const PlannedRun& run, const RunOnceOptions& options,
                                  const std::function<void(double rate)>& on_try = {});

}  // namespace kvbench
