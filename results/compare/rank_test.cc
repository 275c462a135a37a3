#include "results/compare/rank_test.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace kvbench {
namespace {

/// Ranks of all values, doubled so that midranks are whole numbers, those of the first sample
/// first.
struct DoubledRanks {
  std::vector<int64_t> ranks;
  double tie_term = 0;  ///< sum over groups of t equal values of t^3 - t
};

DoubledRanks Rank(std::span<const double> first, std::span<const double> second) {
  std::vector<double> values(first.begin(), first.end());
  values.insert(values.end(), second.begin(), second.end());
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  DoubledRanks result;
  result.ranks.resize(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) {
      ++end;
    }
    for (size_t i = begin; i < end; ++i) {
      result.ranks[order[i]] = static_cast<int64_t>(begin + 1 + end);  // 2 x the mean of both ends
    }
    const auto tied = static_cast<double>(end - begin);
    result.tie_term += tied * tied * tied - tied;
    begin = end;
  }
  return result;
}

/// Twice the smaller tail of the rank sum of the first sample among all ways to choose as many of
/// the values.
double ExactPValue(const std::vector<int64_t>& ranks, size_t chosen) {
  const int64_t most = std::accumulate(ranks.begin(), ranks.end(), int64_t{0});
  const auto columns = static_cast<size_t>(most) + 1;
  // ways[k][s]: choices of k values whose doubled ranks add up to s. At most C(40, 20) < 2^53.
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(columns, 0.0));
  ways[0][0] = 1;
  for (const int64_t rank : ranks) {
    for (size_t k = chosen; k > 0; --k) {
      for (auto s = static_cast<int64_t>(columns) - 1; s >= rank; --s) {
        ways[k][static_cast<size_t>(s)] += ways[k - 1][static_cast<size_t>(s - rank)];
      }
    }
  }
  const int64_t observed = std::accumulate(
      ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(chosen), int64_t{0});
  double all = 0;
  double below = 0;
  double above = 0;
  for (size_t s = 0; s < columns; ++s) {
    all += ways[chosen][s];
    below += static_cast<int64_t>(s) <= observed ? ways[chosen][s] : 0;
    above += static_cast<int64_t>(s) >= observed ? ways[chosen][s] : 0;
  }
  return std::min(1.0, 2 * std::min(below, above) / all);
}

double NormalPValue(double u, double m, double n, double tie_term) {
  const double total = m + n;
  const double variance = m * n / 12 * (total + 1 - tie_term / (total * (total - 1)));
  if (variance <= 0) {
    return 1;  // all values are equal
  }
  const double distance = std::max(0.0, std::abs(u - m * n / 2) - 0.5);
  return std::min(1.0, std::erfc(distance / std::sqrt(2 * variance)));
}

}  // namespace

RankTest MannWhitney(std::span<const double> first, std::span<const double> second) {
  RankTest test;
  if (first.empty() || second.empty()) {
    return test;
  }
  const DoubledRanks ranked = Rank(first, second);
  const auto m = static_cast<double>(first.size());
  const auto n = static_cast<double>(second.size());
  const int64_t sum =
      std::accumulate(ranked.ranks.begin(),
                      ranked.ranks.begin() + static_cast<std::ptrdiff_t>(first.size()), int64_t{0});
  test.u = static_cast<double>(sum) / 2 - m * (m + 1) / 2;
  test.exact = first.size() + second.size() <= kExactRankTestValues;
  test.p_value = test.exact ? ExactPValue(ranked.ranks, first.size())
                            : NormalPValue(test.u, m, n, ranked.tie_term);
  return test;
}

}  // namespace kvbench
