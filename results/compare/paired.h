#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/compare/bootstrap.h"

namespace kvbench {

/// One turn of two programs on the same run: how long each took for the same stretches of it, in
/// any unit that is the same for both. A single stretch is the whole run. [stretches] each.
struct TimedPair {
  std::vector<double> base;
  std::vector<double> next;
};

/// How many times as long the new program takes.
struct PairedEstimate {
  double slowdown = 1;
  Interval interval;
};

/// A run is looked at in so many sections, or fewer where it has fewer stretches.
inline constexpr size_t kPairedSections = 16;

/// Of pairs that were measured turn by turn on a machine whose speed changes. Precondition: at
/// least one pair, as many stretches in all of them, all values above 0.
///
/// Two turns mostly find the machine in the same state, and where they do not it is either's fault
/// as often: so the middle of the ratios is that of the programs. The stretches are taken in
/// sections, one after the other; of each the median over all its stretches and all pairs of new /
/// base; and of these the mean, weighted by the section's median time, since a program may be
/// slower in a part of the run alone. A single stretch leaves the median of the pairs' ratios. The
/// interval is a percentile bootstrap over pairs.
PairedEstimate EstimateSlowdown(const std::vector<TimedPair>& pairs,
                                const BootstrapOptions& options);

/// What is known after so many pairs.
enum class PairedVerdict {
  kMorePairs,  ///< the interval straddles the threshold
  kSame,       ///< it lies within the threshold on both sides
  kFaster,     ///< it lies beyond
  kSlower,
};

/// How pairs are looked at. Looking often would find something sooner or later where nothing is:
/// so there are `looks` at fixed numbers of pairs, and each may err with an equal part of `error`
/// (Bonferroni's inequality).
struct PairedPlan {
  double threshold = 0.05;  ///< 0.05: 5 % slower or (1 / 1.05) faster is a difference
  int64_t budget = 60;      ///< pairs at most
  int64_t looks = 6;
  double error = 0.05;
  static constexpr int64_t kFewest = 6;  ///< pairs at the first look

  /// Whether the verdict is asked for after so many pairs.
  bool IsLook(int64_t pairs) const;
  /// Confidence of each look's interval.
  double Confidence() const { return 1 - error / static_cast<double>(looks); }
};

struct PairedLook {
  PairedVerdict verdict = PairedVerdict::kMorePairs;
  std::optional<PairedEstimate> estimate;  ///< nothing before the first look
};

/// The verdict on an interval of the slowdown: beyond 1 + threshold, beyond 1 / (1 + threshold),
/// within both, or none.
PairedVerdict JudgeInterval(const PairedEstimate& estimate, double threshold);

/// Looks at all pairs so far.
PairedLook LookAt(const std::vector<TimedPair>& pairs, const PairedPlan& plan);

}  // namespace kvbench
