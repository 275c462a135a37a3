#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/machine/read_roof_sampler.h"
#include "bench/output/interrupt.h"
#include "bench/output/trace_events.h"
#include "bench/run/find_rate.h"
#include "bench/run/run_plan.h"
#include "results/record/record.h"

namespace kvbench {

struct RunAllOptions {
  int64_t repetitions = 1;
  bool detailed = false;
  bool step_by_step = false;
  int64_t jobs = 0;                      ///< modelled runs at one time, 0: as many as cores
  TraceEvents* trace_events = nullptr;   ///< keeps the ranges of measured runs; may be null
  ReadRoofSampler* read_roof = nullptr;  ///< sampled around measured runs; may be null
  double busy_wait = 0;                  ///< test hook, of RunOnceOptions
};

/// A run that is done; nothing in it: interrupted.
struct DoneRun {
  std::optional<RunRecord> record;
  std::optional<RateBounds> bounds;  ///< of a rate search
};

/// Runs everything, repetitions as the outer loop: measured runs one after the other, the machine
/// to themselves, then modelled ones side by side. Where some are modelled on this machine's CPU,
/// its roofs are measured before, between and after the measured ones. Entry repetition * runs +
/// run; empty where it was interrupted. Throws Error for --jobs without modelled runs.
std::vector<DoneRun> RunAll(std::vector<PlannedRun>& runs, const RunAllOptions& options,
                            const InterruptGuard& interrupt);

}  // namespace kvbench
