#include "results/compare/rank_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace kvbench {
namespace {

using Values = std::vector<double>;

/// The two-sided p-value by trying every way to choose the first sample: twice the smaller tail.
double EnumeratedPValue(const Values& first, const Values& second) {
  Values all = first;
  all.insert(all.end(), second.begin(), second.end());
  const auto u_of = [&](uint32_t chosen) {
    double u = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = 0; j < all.size(); ++j) {
        if ((chosen >> i & 1) == 1 && (chosen >> j & 1) == 0) {
          u += all[i] > all[j] ? 1 : all[i] == all[j] ? 0.5 : 0;
        }
      }
    }
    return u;
  };
  const double observed = u_of((1U << first.size()) - 1);
  double count = 0;
  double below = 0;
  double above = 0;
  for (uint32_t chosen = 0; chosen < 1U << all.size(); ++chosen) {
    if (static_cast<size_t>(std::popcount(chosen)) == first.size()) {
      const double u = u_of(chosen);
      count += 1;
      below += u <= observed ? 1 : 0;
      above += u >= observed ? 1 : 0;
    }
  }
  return std::min(1.0, 2 * std::min(below, above) / count);
}

TEST(MannWhitney, PublishedCriticalValues) {
  // The usual table of critical values of U, two-sided 5 %: reject at U or below, not above. Also
  // those of scipy.stats.mannwhitneyu(method="exact").
  const struct {
    int m;
    int n;
    int critical;
  } kTable[] = {{4, 4, 0},    {5, 5, 2}, {6, 6, 5},   {7, 7, 8},   {8, 8, 13},   {9, 9, 17},
                {10, 10, 23}, {5, 8, 6}, {6, 10, 11}, {9, 12, 26}, {12, 15, 49}, {20, 20, 127}};
  for (const auto& row : kTable) {
    // A sample whose U is the wanted number: values 1 .. n, and m values placed among them.
    const auto p_value = [&](int u) {
      Values first;
      Values second;
      for (int j = 1; j <= row.n; ++j) {
        second.push_back(j);
      }
      for (int i = 0; i < row.m; ++i) {
        const int larger_than = std::clamp(u - i * row.n, 0, row.n);
        first.push_back(larger_than + 0.5 + 0.01 * i);
      }
      const RankTest test = MannWhitney(first, second);
      EXPECT_EQ(test.u, u);
      EXPECT_TRUE(test.exact);
      return test.p_value;
    };
    EXPECT_LE(p_value(row.critical), 0.05) << row.m << " " << row.n;
    EXPECT_GT(p_value(row.critical + 1), 0.05) << row.m << " " << row.n;
  }
}

TEST(MannWhitney, TheExactValuesAreThoseOfAllSplits) {
  const std::pair<Values, Values> kCases[] = {
      {{1}, {2}},
      {{1, 2, 3}, {4, 5, 6}},
      {{1, 4, 6}, {2, 3, 5, 7}},
      {{1, 1, 2, 2}, {1, 2, 2, 3, 3}},
      {{5, 5, 5}, {5, 5}},
      {{0.1, 0.7, 0.7, 0.9, 3}, {0.2, 0.7, 4, 5, 6, 7}},
  };
  for (const auto& [first, second] : kCases) {
    EXPECT_DOUBLE_EQ(MannWhitney(first, second).p_value, EnumeratedPValue(first, second));
    EXPECT_DOUBLE_EQ(MannWhitney(second, first).p_value, EnumeratedPValue(first, second));
  }
  EXPECT_DOUBLE_EQ(MannWhitney(Values{1, 2, 3}, Values{4, 5, 6}).p_value, 0.1);
  // scipy's documentation: diagnosis ages, males 19 22 16 29 24, females 20 11 17 12: U 17,
  // p 0.1111 exact.
  const RankTest ages = MannWhitney(Values{19, 22, 16, 29, 24}, Values{20, 11, 17, 12});
  EXPECT_EQ(ages.u, 17);
  EXPECT_NEAR(ages.p_value, 0.11111111111111112, 1e-15);
}

TEST(MannWhitney, TheApproximationJoinsTheExactValues) {
  // 20 and 20 are exact, 20 and 21 are not: shifting one sample gives close p-values in both.
  for (const double shift : {0.0, 3.3, 6.3, 9.3}) {
    Values first;
    Values second;
    for (int i = 0; i < 20; ++i) {
      first.push_back(i);
      second.push_back(i + shift);
    }
    const RankTest exact = MannWhitney(first, second);
    second.push_back(9.6 + shift);
    const RankTest normal = MannWhitney(first, second);
    EXPECT_TRUE(exact.exact);
    EXPECT_FALSE(normal.exact);
    EXPECT_NEAR(exact.p_value, normal.p_value, 0.02) << shift;
  }
}

TEST(MannWhitney, EqualValuesAndEmptySamplesSayNothing) {
  EXPECT_EQ(MannWhitney({}, Values{1}).p_value, 1);
  EXPECT_EQ(MannWhitney(Values(30, 2.0), Values(30, 2.0)).p_value, 1);
  EXPECT_EQ(MannWhitney(Values(10, 2.0), Values(10, 2.0)).p_value, 1);
}

}  // namespace
}  // namespace kvbench
