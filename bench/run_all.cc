#include "bench/run_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "bench/find_rate.h"
#include "bench/parallel.h"
#include "bench/progress.h"
#include "bench/roof_keeper.h"
#include "bench/run_once.h"
#include "workloads/error.h"

namespace kvbench {

namespace {

std::string Title(const PlannedRun& run) {
  const std::string block =
      run.spec.design == "paged" ? fmt::format(" {}", run.spec.block_size) : std::string();
  return fmt::format("{} {}{}", run.model.name, run.spec.design, block);
}

DoneRun RunShown(const PlannedRun& run, int64_t repetition, const RunAllOptions& options,
                 Progress& progress, const InterruptGuard& interrupt) {
  Progress::Run shown =
      progress.Begin(Title(run), static_cast<int64_t>(run.trace->trace.requests.size()),
                     run.trace->total_output_tokens);
  const RunOnceOptions once = {.repetition = repetition,
                               .repetitions = options.repetitions,
                               .detailed = options.detailed,
                               .step_by_step = options.step_by_step,
                               .on_step = [&](const EngineProgress& step) {
                                 shown.OnStep(step);
                                 return !interrupt.interrupted();
                               }};
  DoneRun done;
  if (run.spec.find_rate.kind == RateGoal::Kind::kNone) {
    done.record = RunOnce(run, once);
  } else if (std::optional<FoundRate> found = FindRate(run, once, [&](double rate) {
               shown.Rename(fmt::format("{} at {}/s", Title(run), rate));
             })) {
    shown.Rename(found->found() ? fmt::format("{} at {}/s, found in {} runs", Title(run),
                                              *found->bounds.holds, found->bounds.runs)
                                : fmt::format("{}, no rate found", Title(run)));
    done = {std::move(found->record), found->bounds};
  }
  if (done.record) {
    shown.End();
  }
  return done;
}

/// A run that is to be predicted, measured again where the machine changed its speed meanwhile.
DoneRun RunBetweenRoofs(const PlannedRun& run, int64_t repetition, const RunAllOptions& options,
                        Progress& progress, const InterruptGuard& interrupt, RoofKeeper& roofs) {
  constexpr int kMostTries = 4;
  DoneRun done;
  for (int tries = 1;; ++tries) {
    roofs.BeforeRun(run);
    done = RunShown(run, repetition, options, progress, interrupt);
    if (!done.record || roofs.AfterRun(run)) {
      return done;
    }
    if (tries == kMostTries) {
      done.record->notes.push_back(fmt::format(
          "the roofs before and after it differ by more than {:.0f} % in each of {} tries: the "
          "machine changes its speed, and a prediction says little",
          100 * RoofKeeper::kSteady, kMostTries));
      return done;
    }
    progress.Again(Title(run), "the machine changed its speed meanwhile");
  }
}

bool OnThisCpu(const PlannedRun& run) {
  return run.spec.modelled() && run.spec.hardware == kThisCpu;
}

int64_t ResolveJobs(const RunAllOptions& options, bool any_modelled) {
  if (!any_modelled && options.jobs > 1) {
    throw Error("--jobs is for modelled runs: measured ones would disturb each other");
  }
  const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  return options.jobs > 0 ? options.jobs : cores;
}

}  // namespace

std::vector<DoneRun> RunAll(std::vector<PlannedRun>& runs, const RunAllOptions& options,
                            const InterruptGuard& interrupt) {
  const auto modelled = [](const PlannedRun& run) { return run.spec.modelled(); };
  const int64_t jobs = ResolveJobs(options, std::any_of(runs.begin(), runs.end(), modelled));
  const bool predicts = std::any_of(runs.begin(), runs.end(), &OnThisCpu);
  std::vector<DoneRun> done(runs.size() * static_cast<size_t>(options.repetitions));
  Progress progress(static_cast<int64_t>(done.size()));
  RoofKeeper roofs;
  std::vector<size_t> side_by_side;
  // Repetitions are the outer loop, so that a slow spell of the machine does not hit one design
  // alone.
  for (size_t i = 0; i < done.size(); ++i) {
    const auto repetition = static_cast<int64_t>(i / runs.size());
    const PlannedRun& run = runs[i % runs.size()];
    if (run.spec.modelled()) {
      side_by_side.push_back(i);
    } else if (!interrupt.interrupted()) {
      done[i] = predicts && !run.spec.on_gpu()
                    ? RunBetweenRoofs(run, repetition, options, progress, interrupt, roofs)
                    : RunShown(run, repetition, options, progress, interrupt);
    }
  }
  for (PlannedRun& run : runs) {
    if (OnThisCpu(run) && !interrupt.interrupted()) {
      roofs.Predict(run);
    }
  }
  ForEachParallel(static_cast<int64_t>(side_by_side.size()), jobs, [&](int64_t index) {
    const size_t i = side_by_side[static_cast<size_t>(index)];
    if (!interrupt.interrupted()) {
      done[i] = RunShown(runs[i % runs.size()], static_cast<int64_t>(i / runs.size()), options,
                         progress, interrupt);
    }
  });
  return done;
}

}  // namespace kvbench
