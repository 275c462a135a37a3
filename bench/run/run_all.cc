#include "bench/run/run_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "base/error.h"
#include "bench/executors/nvtx_sink.h"
#include "bench/executors/ranges.h"
#include "bench/output/progress.h"
#include "bench/run/find_rate.h"
#include "bench/run/parallel.h"
#include "bench/run/roof_keeper.h"
#include "bench/run/run_once.h"

namespace kvbench {

namespace {

std::string Title(const PlannedRun& run) {
  const RunSpec& spec = run.spec;
  const std::string kind = spec.design == "paged" ? fmt::format(" {}", spec.block_size)
                           : spec.design == "contiguous-growing" ? " " + spec.growth
                                                                 : "";
  return fmt::format("{} {}{}", run.model.name, spec.design, kind);
}

/// Where the ranges of measured runs go: to an NVTX tool, to a file of events, to nobody.
class RangeOutputs {
 public:
  explicit RangeOutputs(TraceEvents* events) : nvtx_(MakeNvtxSink()), events_(events) {}

  Ranges Begin(const PlannedRun& run, int64_t number, int64_t repetition, int64_t repetitions) {
    std::vector<RangeSink*> sinks;
    if (nvtx_) {
      sinks.push_back(nvtx_.get());
    }
    if (events_ != nullptr) {
      sinks.push_back(&events_->AddRun());
    }
    std::string label = fmt::format("{} ({}, measured)", Title(run), run.spec.executor);
    if (repetitions > 1) {
      label += fmt::format(" repetition {}", repetition);
    }
    return {std::move(sinks), std::move(label), number};
  }
  void End(const DoneRun& done) {
    if (events_ != nullptr && done.record) {
      events_->DescribeLastRun(done.record->label);
    }
  }
  /// The run that ended is measured again.
  void Drop() {
    if (events_ != nullptr) {
      events_->DropLastRun();
    }
  }

 private:
  std::unique_ptr<RangeSink> nvtx_;  // null where no tool is attached
  TraceEvents* events_;
};

DoneRun RunShown(const PlannedRun& run, int64_t repetition, const RunAllOptions& options,
                 Progress& progress, const InterruptGuard& interrupt, Ranges ranges = {}) {
  Progress::Run shown =
      progress.Begin(Title(run), static_cast<int64_t>(run.trace->trace.requests.size()),
                     run.trace->total_output_tokens);
  const RunOnceOptions once = {.repetition = repetition,
                               .repetitions = options.repetitions,
                               .detailed = options.detailed,
                               .step_by_step = options.step_by_step,
                               .on_step =
                                   [&](const EngineProgress& step) {
                                     shown.OnStep(step);
                                     return !interrupt.interrupted();
                                   },
                               .ranges = std::move(ranges),
                               .busy_wait = options.busy_wait};
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

/// Measures a run; `number` counts the runs of this program.
DoneRun Measure(const PlannedRun& run, int64_t number, int64_t repetition,
                const RunAllOptions& options, Progress& progress, const InterruptGuard& interrupt,
                RangeOutputs& outputs) {
  DoneRun done = RunShown(run, repetition, options, progress, interrupt,
                          outputs.Begin(run, number, repetition, options.repetitions));
  outputs.End(done);
  return done;
}

/// A run that is to be predicted, measured again where the machine changed its speed meanwhile.
DoneRun MeasureBetweenRoofs(const PlannedRun& run, int64_t number, int64_t repetition,
                            const RunAllOptions& options, Progress& progress,
                            const InterruptGuard& interrupt, RangeOutputs& outputs,
                            RoofKeeper& roofs) {
  constexpr int kMostTries = 4;
  DoneRun done;
  for (int tries = 1;; ++tries) {
    roofs.BeforeRun(run);
    done = Measure(run, number, repetition, options, progress, interrupt, outputs);
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
    outputs.Drop();
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
  RangeOutputs outputs(options.trace_events);
  RoofKeeper roofs;
  std::vector<size_t> side_by_side;
  bool measured = false;
  // Repetitions are the outer loop, so that a slow spell of the machine does not hit one design
  // alone.
  for (size_t i = 0; i < done.size(); ++i) {
    const auto repetition = static_cast<int64_t>(i / runs.size());
    const PlannedRun& run = runs[i % runs.size()];
    if (run.spec.modelled()) {
      side_by_side.push_back(i);
    } else if (!interrupt.interrupted()) {
      const auto number = static_cast<int64_t>(i);
      if (options.read_roof != nullptr && !measured) {
        options.read_roof->Sample();
      }
      measured = true;
      done[i] = predicts && !run.spec.on_gpu()
                    ? MeasureBetweenRoofs(run, number, repetition, options, progress, interrupt,
                                          outputs, roofs)
                    : Measure(run, number, repetition, options, progress, interrupt, outputs);
      if (options.read_roof != nullptr) {
        options.read_roof->Sample();
      }
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
