#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/run/run_spec.h"
#include "results/record/record.h"

namespace kvbench {

struct PaperOptions {
  std::optional<int64_t> seeds = {};  ///< 0 .. seeds - 1 in place of those of each suite
  int64_t jobs = 1;                   ///< runs at one time
  /// Told after each run: the suite, runs that ended and all of them. May be empty; called from any
  /// thread, one call at a time.
  std::function<void(const std::string& suite, int64_t done, int64_t runs)> on_run = {};
};

struct PaperRun {
  RunSpec spec;
  RunRecord record;  ///< without timeline and excluded requests
};

/// Runs the paper's suites, each once however many figures look at it. A run ends with its window:
/// what comes later is in no mean.
class PaperRunner {
 public:
  explicit PaperRunner(PaperOptions options) : options_(std::move(options)) {}

  /// The runs of a built-in suite, in its order. Throws Error as PlanRuns and FindRate do.
  const std::vector<PaperRun>& Suite(const std::string& name);

  /// All that ran so far.
  const std::map<std::string, std::vector<PaperRun>>& suites() const { return suites_; }

 private:
  PaperOptions options_;
  std::map<std::string, std::vector<PaperRun>> suites_;
};

}  // namespace kvbench
