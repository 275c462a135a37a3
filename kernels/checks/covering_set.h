#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace kvbench {

/// Choices of one value for each axis, by index.
using Choice = std::vector<int>;

/// Every combination of the axes' values. @param sizes how many values each axis has
inline std::vector<Choice> WholeProduct(const std::vector<int>& sizes) {
  std::vector<Choice> all = {Choice(sizes.size(), 0)};
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    std::vector<Choice> longer;
    for (const Choice& choice : all) {
      for (int value = 0; value < sizes[axis]; ++value) {
        longer.push_back(choice);
        longer.back()[axis] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

/// A few choices that hold every pair of values of every two axes at least once; the same each
/// time.
inline std::vector<Choice> PairwiseSet(const std::vector<int>& sizes) {
  using Pair = std::tuple<size_t, int, size_t, int>;
  std::set<Pair> missing;
  for (size_t a = 0; a < sizes.size(); ++a) {
    for (size_t b = a + 1; b < sizes.size(); ++b) {
      for (int i = 0; i < sizes[a]; ++i) {
        for (int j = 0; j < sizes[b]; ++j) missing.emplace(a, i, b, j);
      }
    }
  }
  const auto covered = [&](const Choice& choice) {
    std::vector<Pair> pairs;
    for (size_t a = 0; a < sizes.size(); ++a) {
      for (size_t b = a + 1; b < sizes.size(); ++b) {
        const Pair pair{a, choice[a], b, choice[b]};
        if (missing.contains(pair)) pairs.push_back(pair);
      }
    }
    return pairs;
  };
  std::mt19937_64 random(1);
  std::vector<Choice> chosen;
  while (!missing.empty()) {
    Choice best;
    std::vector<Pair> best_pairs;
    for (int attempt = 0; attempt < 50; ++attempt) {
      Choice choice;
      for (const int size : sizes) {
        choice.push_back(static_cast<int>(random() % static_cast<uint64_t>(size)));
      }
      // One pair that is missing, so that every round makes progress.
      const auto& [a, i, b, j] = *missing.begin();
      choice[a] = i;
      choice[b] = j;
      std::vector<Pair> pairs = covered(choice);
      if (pairs.size() > best_pairs.size()) {
        best = std::move(choice);
        best_pairs = std::move(pairs);
      }
    }
    for (const Pair& pair : best_pairs) missing.erase(pair);
    chosen.push_back(std::move(best));
  }
  return chosen;
}

}  // namespace kvbench
