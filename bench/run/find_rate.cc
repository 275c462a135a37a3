#include "bench/run/find_rate.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/units.h"

namespace kvbench {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A rate of which more requests than this would arrive is not tried.
constexpr double kMostRequests = 1e7;

/// Where fewer requests would come a second than this, N of them take too long for the clock.
constexpr double kLongestArrivalsS = 8e6;

double Rounded(double rate) { return ParseNumber(fmt::format("{:.5g}", rate)); }

/// Share of the requests of a run that met its SLO; those that were rejected did not.
double ShareThatMet(const RunRecord& record) {
  const auto ended = static_cast<double>(record.completed + record.rejected);
  // The goodput is whole requests / duration.
  return ended > 0 ? std::round(record.goodput.value_or(0) * record.duration) / ended : 0;
}

bool Holds(const RateGoal& goal, const RunRecord& record) {
  if (goal.kind == RateGoal::Kind::kSlo) {
    return ShareThatMet(record) >= goal.share;
  }
  return record.normalized_latency_mean_s_per_token.value_or(kInfinity) <= goal.s_per_token;
}

std::string GoalText(const RunSpec& spec) {
  if (spec.find_rate.kind == RateGoal::Kind::kNormalizedLatency) {
    return fmt::format("a mean normalized latency of at most {} s a token",
                       spec.find_rate.s_per_token);
  }
  std::string goals;
  const auto add = [&](const char* name, int64_t ps) {
    if (ps != Slo::kNone) {
      goals +=
          fmt::format("{}{} {} s", goals.empty() ? "" : ", ", name, static_cast<double>(ps) / 1e12);
    }
  };
  add("TTFT", spec.slo.ttft_ps);
  add("TPOT", spec.slo.tpot_ps);
  add("end-to-end latency", spec.slo.e2el_ps);
  return fmt::format("{} % of the requests within {}", 100 * spec.find_rate.share, goals);
}

/// No request of the run ever met another one.
bool RanAlone(const RunRecord& record) {
  return record.peak_running_requests == 1 && record.queue["max"].value_or(0) == 0;
}

/// One search: keeps the record that will be the answer.
class Search {
 public:
  Search(const PlannedRun& run, const RunOnceOptions& options,
         const std::function<void(double)>& on_try)
      : run_(run), options_(options), on_try_(on_try) {}

  bool stopped() const { return stopped_; }
  RunRecord& record() { return holds_ ? *holds_ : *misses_; }

  /// Once stopped, it says what ends the search.
  RateVerdict Try(double rate) {
    const std::optional<bool> holds = stopped_ ? std::nullopt : Run(rate);
    if (!holds) {
      return RateVerdict::kMissesEverywhere;
    }
    if (!*holds) {
      return Slowest(rate) ? RateVerdict::kMissesEverywhere : RateVerdict::kMisses;
    }
    return Fastest(rate) ? RateVerdict::kHoldsEverywhere : RateVerdict::kHolds;
  }

  int64_t extra_runs() const { return tried_all_at_once_ ? 1 : 0; }

 private:
  double DurationS() const { return static_cast<double>(run_.spec.duration_ps) / 1e12; }

  /// The run at `rate` holds the goal: whether that is all there is to find.
  bool Fastest(double rate) {
    if (misses_) {
      return false;
    }
    if (run_.spec.duration_ps > 0) {
      return 2 * rate * DurationS() > kMostRequests;
    }
    // Higher rates come ever nearer to all at once. That is tried first, and when it misses there
    // is an end to doubling.
    tried_all_at_once_ = true;
    std::optional<RunRecord> kept = std::move(holds_);
    const std::optional<bool> holds = Run(kInfinity);
    if (holds.value_or(false)) {
      return true;
    }
    holds_ = std::move(kept);
    return false;
  }

  /// The run at `rate` misses the goal: whether there is no use in a lower one.
  bool Slowest(double rate) const {
    const double lower = rate / 2;
    const bool too_few =
        run_.spec.duration_ps > 0
            ? lower * DurationS() < 1
            : static_cast<double>(misses_->trace.num_requests) / lower > kLongestArrivalsS;
    return too_few || RanAlone(*misses_);
  }

  /// Whether the goal holds; nothing: stopped.
  std::optional<bool> Run(double rate) {
    if (on_try_) {
      on_try_(rate);
    }
    std::optional<RunRecord> record = RunOnce(WithRate(run_, rate), options_);
    if (!record) {
      stopped_ = true;
      return std::nullopt;
    }
    const bool holds = Holds(run_.spec.find_rate, *record);
    (holds ? holds_ : misses_) = std::move(record);
    return holds;
  }

  const PlannedRun& run_;
  const RunOnceOptions& options_;
  const std::function<void(double)>& on_try_;
  std::optional<RunRecord> holds_;   // of the highest rate so far
  std::optional<RunRecord> misses_;  // of the last one
  bool stopped_ = false;
  bool tried_all_at_once_ = false;
};

std::string NoteOf(const RunSpec& spec, const RateBounds& bounds, const RunRecord& record) {
  const std::string goal = GoalText(spec);
  const std::string tried = fmt::format("{} run{} tried", bounds.runs, bounds.runs == 1 ? "" : "s");
  if (bounds.holds && bounds.misses) {
    return fmt::format(
        "rate search: {} requests/s is the highest rate with {}, to {:.4g} % ({} misses it); {}",
        *bounds.holds, goal, 100 * spec.rate_tolerance, *bounds.misses, tried);
  }
  if (bounds.holds) {
    const bool at_once = record.trace.request_rate && std::isinf(*record.trace.request_rate);
    return fmt::format("rate search: no highest rate, {} hold{} {}; {}",
                       at_once ? "even all requests at once" : "every rate that can be tried",
                       at_once ? "" : "s", goal, tried);
  }
  return fmt::format("rate search: no rate holds {}, {}; {}", goal,
                     RanAlone(record) ? "even where every request runs alone"
                                      : "down to the lowest that can be tried",
                     tried);
}

}  // namespace

RateBounds SearchRate(double start, double tolerance,
                      const std::function<RateVerdict(double)>& verdict) {
  RateBounds bounds;
  double rate = start;
  while (!bounds.holds || !bounds.misses) {
    ++bounds.runs;
    const RateVerdict said = verdict(rate);
    if (said == RateVerdict::kHolds || said == RateVerdict::kHoldsEverywhere) {
      bounds.holds = rate;
    } else {
      bounds.misses = rate;
    }
    if ((said == RateVerdict::kMissesEverywhere && !bounds.holds) ||
        (said == RateVerdict::kHoldsEverywhere && !bounds.misses)) {
      return bounds;
    }
    rate = Rounded(bounds.holds ? rate * 2 : rate / 2);
  }
  while (*bounds.misses - *bounds.holds > tolerance * *bounds.holds) {
    const double middle = Rounded((*bounds.holds + *bounds.misses) / 2);
    if (middle <= *bounds.holds || middle >= *bounds.misses) {
      break;
    }
    ++bounds.runs;
    const RateVerdict said = verdict(middle);
    const bool holds = said == RateVerdict::kHolds || said == RateVerdict::kHoldsEverywhere;
    (holds ? bounds.holds : bounds.misses) = middle;
  }
  return bounds;
}

std::optional<FoundRate> FindRate(const PlannedRun& run, const RunOnceOptions& options,
                                  const std::function<void(double)>& on_try) {
  Search search(run, options, on_try);
  FoundRate found;
  found.bounds = SearchRate(run.spec.rate, run.spec.rate_tolerance,
                            [&](double rate) { return search.Try(rate); });
  if (search.stopped()) {
    return std::nullopt;
  }
  found.bounds.runs += search.extra_runs();
  found.record = std::move(search.record());
  found.record.notes.push_back(NoteOf(run.spec, found.bounds, found.record));
  return found;
}

}  // namespace kvbench
