#include "bench/compare/exec_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "base/quoting.h"
#include "base/statistics.h"
#include "bench/compare/child_program.h"
#include "bench/input/results_input.h"

namespace kvbench {
namespace {

constexpr size_t kStretches = 256;
constexpr int kVerificationFailed = 1;
constexpr int kInterrupted = 130;

/// Thrown through a turn that was interrupted.
struct Interrupted {};

/// A metric of a run over the pairs so far.
struct PairedMetric {
  std::string name;
  std::vector<TimedPair> pairs;
  std::vector<double> base_values;
  std::vector<double> next_values;
  PairedLook look;
  int64_t decided_after = 0;  ///< pairs; 0: not yet
};

struct PairedRun {
  RunComparison result;
  std::vector<PairedMetric> metrics;

  bool decided() const {
    return result.changes_in_all > 0 ||
           std::all_of(metrics.begin(), metrics.end(),
                       [](const PairedMetric& metric) { return metric.decided_after > 0; });
  }
};

bool IsWholeRunTime(const std::string& metric) {
  return metric == "duration" || metric.ends_with("throughput");
}

/// The times of one turn: of the run's stretches where the metric is about the whole run and the
/// steps are the same in every turn, else the metric itself as a time. Nothing: it has no value.
std::vector<double> TimesOf(const ComparedRun& run, const std::string& metric) {
  if (run.kind == RunKind::kAllAtOnce && IsWholeRunTime(metric)) {
    std::vector<double> stretches = Stretches(run.step_ends_s, kStretches);
    if (!stretches.empty()) {
      return stretches;
    }
  }
  const std::optional<double> value = run.Metric(metric);
  if (!value || !(*value > 0) || !std::isfinite(*value)) {
    return {};
  }
  return {MoreIsBetter(metric) ? 1 / *value : *value};
}

class ExecComparison {
 public:
  explicit ExecComparison(const ExecCompareOptions& options) : options_(options) {
    plan_.threshold = options.compare.threshold;
    plan_.budget = options.budget;
  }

  Comparison Run() {
    std::string stopped = fmt::format("the budget of {} pairs is spent", options_.budget);
    try {
      while (pairs_ < options_.budget) {
        RunPair();
        if (plan_.IsLook(pairs_)) {
          Look();
        }
        const bool decided = std::all_of(runs_.begin(), runs_.end(),
                                         [](const PairedRun& run) { return run.decided(); });
        if (decided) {
          stopped = "every run has a verdict";
          break;
        }
        if (options_.on_pair && !options_.on_pair(pairs_)) {
          throw Interrupted();
        }
      }
    } catch (const Interrupted&) {
      stopped = "interrupted";
    }
    Comparison comparison;
    comparison.base = options_.base;
    comparison.next = options_.next;
    comparison.notes.push_back(fmt::format("{} pair{} of at most {}: {}", pairs_,
                                           pairs_ == 1 ? "" : "s", options_.budget, stopped));
    for (PairedRun& run : runs_) {
      Conclude(run);
      comparison.runs.push_back(std::move(run.result));
    }
    NameRuns(comparison);
    return comparison;
  }

 private:
  ComparedFile Turn(const std::string& program) {
    const std::string out = (scratch_.path() / "results.json").string();
    std::filesystem::remove(out);
    const ChildOutcome outcome =
        RunChild(program, {"run", options_.suite, "--out", out}, scratch_.path());
    if (outcome.exit_code == kInterrupted) {
      throw Interrupted();
    }
    if (outcome.exit_code != 0 && outcome.exit_code != kVerificationFailed) {
      throw Error(fmt::format("{} run {} failed with exit code {}{}{}", ShownPath(program),
                              ShownPath(options_.suite), outcome.exit_code,
                              outcome.last_line.empty() ? "" : ": ", outcome.last_line));
    }
    ComparedFile file = ReadComparedFile(out, /*timeline=*/true);
    file.name = program;
    return file;
  }

  void RunPair() {
    const bool base_first = pairs_ % 2 == 0;
    const ComparedFile first = Turn(base_first ? options_.base : options_.next);
    const ComparedFile second = Turn(base_first ? options_.next : options_.base);
    ++pairs_;
    const ComparedFile& base = base_first ? first : second;
    const ComparedFile& next = base_first ? second : first;
    std::unordered_map<std::string_view, const ComparedRun*> twins;
    for (const ComparedRun& run : next.runs) {
      twins[run.label] = &run;
    }
    for (const ComparedRun& run : base.runs) {
      const auto twin = twins.find(run.label);
      if (twin == twins.end()) {
        Find(run).result.verdict = Verdict::kOnlyInBase;
        continue;
      }
      Add(run, *twin->second, base.minor_version == next.minor_version);
      twins.erase(twin);
    }
    if (twins.size() == next.runs.size()) {
      throw Error(fmt::format("{} and {} have no run of {} in common", ShownPath(options_.base),
                              ShownPath(options_.next), ShownPath(options_.suite)));
    }
    for (const ComparedRun& run : next.runs) {
      if (twins.contains(run.label)) {
        Find(run).result.verdict = Verdict::kOnlyInNew;
      }
    }
  }

  PairedRun& Find(const ComparedRun& run) {
    const auto [found, added] = index_.emplace(run.label, runs_.size());
    if (added) {
      runs_.emplace_back().result.label = run.label;
    }
    return runs_[found->second];
  }

  void Add(const ComparedRun& base, const ComparedRun& next, bool same_version) {
    const bool is_new = !index_.contains(base.label);
    PairedRun& run = Find(base);
    const bool measured = base.kind == RunKind::kAllAtOnce || base.kind == RunKind::kTimed;
    if (is_new && measured) {
      std::vector<std::string> names = options_.compare.metrics;
      if (names.empty()) {
        names.emplace_back(DefaultMetric(base.kind));
      }
      for (const std::string& name : names) {
        run.metrics.emplace_back().name = name;
      }
    }
    if (run.result.changes_in_all > 0) {
      return;  // said already
    }
    CompareExact(base, next, same_version, run.result);
    if (next.verification_failed && run.result.notes.empty()) {
      run.result.notes.push_back("the new run's attention outputs failed their verification");
    }
    for (PairedMetric& metric : run.metrics) {
      if (metric.decided_after == 0) {
        AddTimes(base, next, metric);
      }
    }
  }

  void AddTimes(const ComparedRun& base, const ComparedRun& next, PairedMetric& metric) {
    TimedPair pair = {TimesOf(base, metric.name), TimesOf(next, metric.name)};
    if (pair.base.empty() || pair.base.size() != pair.next.size() ||
        (!metric.pairs.empty() && metric.pairs.front().base.size() != pair.base.size())) {
      return;
    }
    metric.pairs.push_back(std::move(pair));
    if (const auto value = base.Metric(metric.name)) {
      metric.base_values.push_back(*value);
    }
    if (const auto value = next.Metric(metric.name)) {
      metric.next_values.push_back(*value);
    }
  }

  void Look() {
    for (PairedRun& run : runs_) {
      for (PairedMetric& metric : run.metrics) {
        if (metric.decided_after > 0 || metric.pairs.empty()) {
          continue;
        }
        metric.look = LookAt(metric.pairs, plan_);
        if (metric.look.verdict != PairedVerdict::kMorePairs) {
          metric.decided_after = pairs_;
        }
      }
    }
  }

  void Conclude(PairedRun& run) const {
    for (const PairedMetric& metric : run.metrics) {
      TimingComparison timing;
      timing.metric = metric.name;
      timing.base_count = static_cast<int64_t>(metric.pairs.size());
      timing.next_count = timing.base_count;
      timing.base_median = Median(metric.base_values);
      timing.next_median = Median(metric.next_values);
      if (metric.look.estimate) {
        timing.slowdown = metric.look.estimate->slowdown;
        timing.interval = metric.look.estimate->interval;
      }
      switch (metric.look.verdict) {
        case PairedVerdict::kSame:
          timing.verdict = Verdict::kSame;
          break;
        case PairedVerdict::kFaster:
          timing.verdict = Verdict::kFaster;
          break;
        case PairedVerdict::kSlower:
          timing.verdict = Verdict::kSlower;
          break;
        case PairedVerdict::kMorePairs:
          timing.verdict = Verdict::kUndecided;
          break;
      }
      timing.why = Why(metric);
      run.result.timings.push_back(std::move(timing));
    }
    const Verdict verdict = run.result.verdict;
    if (verdict != Verdict::kOnlyInBase && verdict != Verdict::kOnlyInNew) {
      run.result.verdict = JudgeRun(run.result);
    }
  }

  static std::string Why(const PairedMetric& metric) {
    const auto pairs = static_cast<int64_t>(metric.pairs.size());
    if (metric.decided_after > 0) {
      return fmt::format("{} pairs", metric.decided_after);
    }
    if (pairs == 0) {
      return fmt::format("{} has no value", metric.name);
    }
    if (pairs < PairedPlan::kFewest) {
      return fmt::format("needs {} pairs, has {}", PairedPlan::kFewest, pairs);
    }
    return fmt::format("the interval still reaches the threshold after {} pairs", pairs);
  }

  const ExecCompareOptions& options_;
  PairedPlan plan_;
  TemporaryFolder scratch_;
  std::unordered_map<std::string, size_t> index_;
  std::vector<PairedRun> runs_;
  int64_t pairs_ = 0;
};

}  // namespace

std::vector<double> Stretches(const std::vector<double>& step_ends_s, size_t count) {
  constexpr size_t kFewestPoints = 8;
  std::vector<double> stretches;
  const size_t points = step_ends_s.size();
  if (points < kFewestPoints) {
    return stretches;
  }
  const size_t parts = std::min(count, points);
  double begin = 0;
  for (size_t part = 1; part <= parts; ++part) {
    const double end = step_ends_s[part * points / parts - 1];
    if (!(end > begin)) {
      return {};
    }
    stretches.push_back(end - begin);
    begin = end;
  }
  return stretches;
}

Comparison CompareByExec(const ExecCompareOptions& options) {
  return ExecComparison(options).Run();
}

}  // namespace kvbench
