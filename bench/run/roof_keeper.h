#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/executors/cpu_roofs.h"
#include "bench/run/run_plan.h"

namespace kvbench {

/// The roofs of this machine's CPU around the measured runs of one invocation, for the modelled
/// runs that are to predict them: before the first run of a model, and after each of its runs.
class RoofKeeper {
 public:
  /// Roofs before and after a run that differ by more than this share say that the machine changed
  /// its speed in between.
  static constexpr double kSteady = 0.1;

  /// Before a measured run: measures where the model has no roofs from right before.
  void BeforeRun(const PlannedRun& run);
  /// After it; what was measured before and after is the run's own. False: the machine was not
  /// steady, and the run should be measured again.
  bool AfterRun(const PlannedRun& run);

  /// Gives a run that is modelled on this CPU its step times: by the roofs around the measured run
  /// that is like it in all but the executor, otherwise by all of its model, measured now where
  /// there are none.
  void Predict(PlannedRun& run);

 private:
  const CpuRoofs& Measure(const PlannedRun& run);

  std::map<std::string, std::vector<CpuRoofs>> by_model_;
  std::map<std::string, std::vector<CpuRoofs>> by_run_;
  std::string last_;  // the model measured last, with nothing run since
};

}  // namespace kvbench
