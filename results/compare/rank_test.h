#pragma once

#include <span>

namespace kvbench {

/// What Mann and Whitney's test says about two samples.
struct RankTest {
  double u = 0;        ///< of the first sample: pairs in which its value is larger, ties count half
  double p_value = 1;  ///< two-sided; 1 where a sample is empty
  bool exact = false;  ///< from the permutation distribution; otherwise the normal approximation
};

/// Up to so many values in both samples together the p-value is exact.
inline constexpr int kExactRankTestValues = 40;

/// Mann-Whitney U test (Wilcoxon's rank-sum test) of two independent samples in any order. Small
/// samples: the exact distribution over all ways to split the values, ties included (by midranks);
/// the two-sided p-value is twice the smaller tail, 1 at most. Larger ones: the normal
/// approximation with the correction for ties and for continuity, as scipy.stats.mannwhitneyu has
/// it. Precondition: no NaN.
RankTest MannWhitney(std::span<const double> first, std::span<const double> second);

}  // namespace kvbench
