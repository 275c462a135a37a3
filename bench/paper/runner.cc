#include "bench/paper/runner.h"

#include <mutex>

#include "base/error.h"
#include "bench/run/find_rate.h"
#include "bench/run/parallel.h"
#include "bench/run/run_once.h"
#include "bench/run/run_plan.h"

namespace kvbench {

namespace {

std::vector<RunSpec> Specs(const std::string& name, const std::optional<int64_t>& seeds) {
  std::vector<RunSpec> specs;
  for (AxisValues axes : LoadSuite(name).Sets()) {
    if (seeds) {
      axes["seed"].clear();
      for (int64_t seed = 0; seed < *seeds; ++seed) {
        axes["seed"].push_back(std::to_string(seed));
      }
    }
    for (RunSpec& spec : ExpandRuns(axes)) {
      specs.push_back(std::move(spec));
    }
  }
  return specs;
}

RunRecord RunOne(const PlannedRun& run) {
  if (run.spec.find_rate.kind == RateGoal::Kind::kNone) {
    RunRecord record = *RunOnce(run, {.until_ps = run.spec.window.to_ps});
    record.timeline.clear();
    record.window.excluded.requests.clear();
    return record;
  }
  FoundRate found = *FindRate(run, {});
  if (!found.found()) {
    throw Error(run.model.name + ", " + run.spec.design + ": " + found.record.notes.back());
  }
  found.record.timeline.clear();
  return std::move(found.record);
}

}  // namespace

const std::vector<PaperRun>& PaperRunner::Suite(const std::string& name) {
  const auto known = suites_.find(name);
  if (known != suites_.end()) {
    return known->second;
  }
  const std::vector<PlannedRun> planned = PlanRuns(Specs(name, options_.seeds));
  std::vector<PaperRun> runs(planned.size());
  const auto count = static_cast<int64_t>(planned.size());
  std::mutex mutex;
  int64_t done = 0;
  ForEachParallel(count, options_.jobs, [&](int64_t index) {
    const PlannedRun& run = planned[static_cast<size_t>(index)];
    runs[static_cast<size_t>(index)] = {run.spec, RunOne(run)};
    const std::scoped_lock lock(mutex);
    ++done;
    if (options_.on_run) {
      options_.on_run(name, done, count);
    }
  });
  return suites_[name] = std::move(runs);
}

}  // namespace kvbench
