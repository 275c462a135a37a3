#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/statistics.h"
#include "results/compare/compare.h"
#include "results/compare/paired.h"
#include "results/compare/rank_test.h"

namespace kvbench {
namespace {

using Runs = std::vector<const ComparedRun*>;

/// Values above 0 of a metric, as times: what is better when it is more is turned around.
struct Sample {
  std::vector<double> values;
  std::vector<double> times;
};

/// A read roof times a time, and a throughput over a roof, do not depend on the roof.
Sample Collect(const Runs& runs, const std::string& metric, bool shares) {
  Sample sample;
  const bool more = MoreIsBetter(metric);
  for (const ComparedRun* run : runs) {
    const std::optional<double> value = run->Metric(metric);
    if (!value || !(*value > 0) || !std::isfinite(*value)) {
      continue;
    }
    const double roof = shares ? run->roof->bytes_per_s : 1;
    sample.values.push_back(*value);
    sample.times.push_back(roof * (more ? 1 / *value : *value));
  }
  return sample;
}

std::set<std::string> MadeOnNames(const Runs& runs) {
  std::set<std::string> names;
  for (const ComparedRun* run : runs) {
    names.insert(run->made_on);
  }
  return names;
}

/// How far the roofs of some runs can be trusted: the largest spread that they say or show.
double RoofSpread(const Runs& runs) {
  double spread = 0;
  double least = runs.front()->roof->bytes_per_s;
  double most = least;
  for (const ComparedRun* run : runs) {
    spread = std::max(spread, run->roof->spread.value_or(0));
    least = std::min(least, run->roof->bytes_per_s);
    most = std::max(most, run->roof->bytes_per_s);
  }
  return std::max(spread, most / least - 1);
}

bool AllHaveRoofs(const Runs& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const ComparedRun* run) {
    return run->roof && run->roof->bytes_per_s > 0;
  });
}

/// Whether a metric is a share already, or has nothing to do with memory.
bool IsShare(const std::string& metric) { return metric.ends_with("_share"); }

Verdict FromPaired(PairedVerdict verdict) {
  switch (verdict) {
    case PairedVerdict::kSame:
      return Verdict::kSame;
    case PairedVerdict::kFaster:
      return Verdict::kFaster;
    case PairedVerdict::kSlower:
      return Verdict::kSlower;
    case PairedVerdict::kMorePairs:
      break;
  }
  return Verdict::kUndecided;
}

}  // namespace

TimingComparison CompareTimings(const Runs& base, const Runs& next, const std::string& metric,
                                const CompareOptions& options) {
  TimingComparison result;
  result.metric = metric;
  const std::set<std::string> names = MadeOnNames(base);
  const bool apart =
      !options.absolute && !IsShare(metric) && (names.size() > 1 || names != MadeOnNames(next));
  result.shares = apart && AllHaveRoofs(base) && AllHaveRoofs(next);
  const Sample before = Collect(base, metric, result.shares);
  const Sample after = Collect(next, metric, result.shares);
  result.base_count = static_cast<int64_t>(before.values.size());
  result.next_count = static_cast<int64_t>(after.values.size());
  result.base_median = Median(before.values);
  result.next_median = Median(after.values);
  if (before.values.empty() || after.values.empty()) {
    result.why = fmt::format("{} has no value in {}", metric,
                             before.values.empty() ? "the base" : "the new file");
    return result;
  }
  result.slowdown = *Median(after.times) / *Median(before.times);
  if (apart && !result.shares) {
    result.why =
        "made on different days or machines, and not every file has a read roof to take shares of "
        "(kvbench run --read-roof); --absolute insists";
    return result;
  }
  const int64_t fewest = std::min(result.base_count, result.next_count);
  if (fewest < kNeededRepetitions) {
    result.why = fmt::format("needs {} repetitions, has {}", kNeededRepetitions, fewest);
    return result;
  }
  result.p_value = MannWhitney(after.times, before.times).p_value;
  result.interval = BootstrapMedianRatio(after.times, before.times, {});
  double threshold = options.threshold;
  if (result.shares) {
    const double spread = RoofSpread(base) + RoofSpread(next);
    result.why = fmt::format("as shares of the read roofs, which vary by {:.0f} %", 100 * spread);
    threshold = std::max(threshold, spread);
  }
  const PairedEstimate estimate = {*result.slowdown, *result.interval};
  result.verdict = FromPaired(JudgeInterval(estimate, threshold));
  if (result.verdict == Verdict::kSame && threshold > options.threshold &&
      JudgeInterval(estimate, options.threshold) != PairedVerdict::kSame) {
    result.verdict = Verdict::kUndecided;
  }
  if (result.verdict == Verdict::kUndecided) {
    result.why += fmt::format("{}{}", result.why.empty() ? "" : ": ",
                              threshold > options.threshold
                                  ? "the difference does not exceed that"
                                  : "the interval reaches the threshold: more repetitions");
  }
  return result;
}

}  // namespace kvbench
