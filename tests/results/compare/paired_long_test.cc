#include "results/compare/paired.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace kvbench {
namespace {

/// A machine with two speeds, a factor 1.8 apart, that changes between them after a few seconds,
/// as shared machines do. Time and noise come from a seeded generator.
class MoodyMachine {
 public:
  MoodyMachine(uint64_t seed, double mean_seconds) : random_(seed), mean_(mean_seconds) {
    fast_ = random_.Below(2) == 0;
    left_ = Exponential();
  }

  /// Seconds for work that takes `seconds` at full speed.
  double Run(double seconds) {
    double took = 0;
    double work = seconds * (1 + 0.04 * (Uniform() - 0.5));
    for (;;) {
      const double speed = fast_ ? 1 : 1 / 1.8;
      if (work / speed <= left_) {
        left_ -= work / speed;
        return took + work / speed;
      }
      took += left_;
      work -= left_ * speed;
      fast_ = !fast_;
      left_ = Exponential();
    }
  }

 private:
  double Uniform() { return static_cast<double>(random_.Next() >> 11) * 0x1p-53; }
  double Exponential() { return -mean_ * std::log1p(-Uniform()); }

  Resampler random_;
  double mean_;
  bool fast_ = true;
  double left_ = 0;
};

constexpr double kStart = 0.3;  ///< seconds before a program measures

/// Runs A B B A ... until a verdict or the budget: as `kvbench compare --exec` does.
struct Outcome {
  PairedVerdict verdict = PairedVerdict::kMorePairs;
  int64_t pairs = 0;
};

Outcome CompareOn(MoodyMachine& machine, double planted, double seconds, int stretches) {
  const PairedPlan plan;
  std::vector<TimedPair> pairs;
  const auto program = [&](double factor) {
    machine.Run(kStart);
    std::vector<double> times;
    for (int i = 0; i < stretches; ++i) {
      times.push_back(machine.Run(factor * seconds / stretches));
    }
    return times;
  };
  while (static_cast<int64_t>(pairs.size()) < plan.budget) {
    TimedPair pair;
    const bool base_first = pairs.size() % 2 == 0;
    if (base_first) {
      pair.base = program(1);
    }
    pair.next = program(1 + planted);
    if (!base_first) {
      pair.base = program(1);
    }
    pairs.push_back(std::move(pair));
    const auto count = static_cast<int64_t>(pairs.size());
    if (plan.IsLook(count)) {
      const PairedVerdict verdict = LookAt(pairs, plan).verdict;
      if (verdict != PairedVerdict::kMorePairs) {
        return {verdict, count};
      }
    }
  }
  return {PairedVerdict::kMorePairs, plan.budget};
}

struct Counts {
  int slower = 0;
  int same = 0;
  int faster = 0;
  int64_t pairs = 0;
};

Counts Repeat(double planted, double mean_seconds, double seconds, int stretches, int times) {
  Counts counts;
  for (int i = 0; i < times; ++i) {
    MoodyMachine machine(static_cast<uint64_t>(100 + i), mean_seconds);
    const Outcome outcome = CompareOn(machine, planted, seconds, stretches);
    counts.slower += outcome.verdict == PairedVerdict::kSlower ? 1 : 0;
    counts.same += outcome.verdict == PairedVerdict::kSame ? 1 : 0;
    counts.faster += outcome.verdict == PairedVerdict::kFaster ? 1 : 0;
    counts.pairs += outcome.pairs;
  }
  return counts;
}

constexpr std::array kMeanSeconds = {0.5, 3.0};

TEST(Paired, TwentyEqualProgramsAreNeverSlower) {
  for (const double mean_seconds : kMeanSeconds) {
    const Counts counts = Repeat(0, mean_seconds, 1, 40, 20);
    EXPECT_EQ(counts.slower, 0) << mean_seconds;
    EXPECT_EQ(counts.faster, 0) << mean_seconds;
    EXPECT_GE(counts.same, 15) << mean_seconds;
  }
}

TEST(Paired, APlantedTenPercentIsFoundInNineteenOfTwenty) {
  for (const double mean_seconds : kMeanSeconds) {
    const Counts counts = Repeat(0.1, mean_seconds, 1, 40, 20);
    EXPECT_GE(counts.slower, 19) << mean_seconds;
    EXPECT_EQ(counts.faster, 0) << mean_seconds;
  }
}

TEST(Paired, WholeRunsNeedAMachineThatKeepsItsSpeedForARun) {
  const Counts equal = Repeat(0, 6, 1, 1, 20);
  EXPECT_EQ(equal.slower + equal.faster, 0);
  const Counts planted = Repeat(0.1, 6, 1, 1, 20);
  EXPECT_GE(planted.slower, 17);
  EXPECT_EQ(planted.faster + planted.same, 0);
  // On a moodier one nothing false is said, but less.
  const Counts moody = Repeat(0, 0.5, 1, 1, 20);
  EXPECT_EQ(moody.slower + moody.faster, 0);
}

TEST(Paired, LooksAreAtFixedNumbersOfPairs) {
  const auto looks = [](int64_t budget) {
    std::vector<int64_t> found;
    for (int64_t pairs = 1; pairs <= budget; ++pairs) {
      if (PairedPlan{.budget = budget}.IsLook(pairs)) {
        found.push_back(pairs);
      }
    }
    return found;
  };
  EXPECT_EQ(looks(60), (std::vector<int64_t>{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(looks(12), (std::vector<int64_t>{6, 8, 10, 12}));
  EXPECT_EQ(looks(3), (std::vector<int64_t>{3}));
  EXPECT_NEAR(PairedPlan{}.Confidence(), 1 - 0.05 / 6, 1e-12);
}

TEST(Paired, TooFewPairsSayNothing) {
  const std::vector<TimedPair> pairs(5, TimedPair{{1}, {2}});
  const PairedLook look = LookAt(pairs, {.budget = 5});
  EXPECT_EQ(look.verdict, PairedVerdict::kMorePairs);
  EXPECT_FALSE(look.estimate);
}

TEST(Paired, TheEstimateOfKnownPairs) {
  // One stretch: the median of 1.1, 1.2, 1.3; equal pairs have an interval without width.
  const PairedEstimate one = EstimateSlowdown({{{1}, {1.1}}, {{2}, {2.6}}, {{1}, {1.2}}}, {});
  EXPECT_DOUBLE_EQ(one.slowdown, 1.2);
  EXPECT_DOUBLE_EQ(one.interval.low, 1.1);
  EXPECT_DOUBLE_EQ(one.interval.high, 1.3);
  // Two stretches: slow spells in different turns leave no trace.
  std::vector<TimedPair> pairs(8, TimedPair{{1, 3}, {1.1, 3.3}});
  pairs[2].base = {1.8, 3};
  pairs[5].next = {1.1, 5.9};
  const PairedEstimate two = EstimateSlowdown(pairs, {});
  EXPECT_DOUBLE_EQ(two.slowdown, 1.1);
}

TEST(Paired, BeyondTheThresholdTakesRatioAndInterval) {
  EXPECT_EQ(JudgeInterval({1.10, {1.06, 1.2}}, 0.05), PairedVerdict::kSlower);
  EXPECT_EQ(JudgeInterval({1.10, {1.04, 1.2}}, 0.05), PairedVerdict::kMorePairs);
  EXPECT_EQ(JudgeInterval({1.01, {0.99, 1.04}}, 0.05), PairedVerdict::kSame);
  EXPECT_EQ(JudgeInterval({1.01, {0.93, 1.04}}, 0.05), PairedVerdict::kMorePairs);
  EXPECT_EQ(JudgeInterval({0.90, {0.88, 0.94}}, 0.05), PairedVerdict::kFaster);
  EXPECT_EQ(JudgeInterval({0.90, {0.88, 0.96}}, 0.05), PairedVerdict::kMorePairs);
}

}  // namespace
}  // namespace kvbench
