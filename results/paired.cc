#include "results/paired.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace kvbench {
namespace {

/// The value below which a quarter of the values lie (the order statistic, not interpolated).
double LowerQuartile(std::vector<double>& values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 4);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// Of the pairs with those numbers.
double Slowdown(const std::vector<TimedPair>& pairs, const std::vector<size_t>& picked,
                std::vector<double>& scratch) {
  const size_t stretches = pairs.front().base.size();
  scratch.resize(picked.size());
  if (stretches == 1) {
    for (size_t i = 0; i < picked.size(); ++i) {
      const TimedPair& pair = pairs[picked[i]];
      scratch[i] = std::log(pair.next[0] / pair.base[0]);
    }
    return std::exp(MedianInPlace(scratch));
  }
  const auto sum = [&](std::vector<double> TimedPair::*side) {
    double total = 0;
    for (size_t stretch = 0; stretch < stretches; ++stretch) {
      for (size_t i = 0; i < picked.size(); ++i) {
        scratch[i] = (pairs[picked[i]].*side)[stretch];
      }
      total += LowerQuartile(scratch);
    }
    return total;
  };
  const double next = sum(&TimedPair::next);
  return next / sum(&TimedPair::base);
}

}  // namespace

PairedEstimate EstimateSlowdown(const std::vector<TimedPair>& pairs,
                                const BootstrapOptions& options) {
  assert(!pairs.empty());
  std::vector<size_t> picked(pairs.size());
  for (size_t i = 0; i < picked.size(); ++i) {
    picked[i] = i;
  }
  std::vector<double> scratch;
  PairedEstimate estimate;
  estimate.slowdown = Slowdown(pairs, picked, scratch);
  estimate.interval = Bootstrap(options, [&](Resampler& resampler) {
    for (size_t& index : picked) {
      index = resampler.Below(pairs.size());
    }
    return Slowdown(pairs, picked, scratch);
  });
  return estimate;
}

bool PairedPlan::IsLook(int64_t pairs) const {
  if (pairs >= budget) {
    return true;
  }
  if (pairs < kFewest) {
    return false;
  }
  for (int64_t look = 1; look < looks; ++look) {
    if (pairs == std::max(kFewest, (budget * look + looks - 1) / looks)) {
      return true;
    }
  }
  return false;
}

PairedVerdict JudgeInterval(const PairedEstimate& estimate, double threshold) {
  const double slower = 1 + threshold;
  const double faster = 1 / slower;
  const Interval& interval = estimate.interval;
  if (estimate.slowdown > slower && interval.low > slower) {
    return PairedVerdict::kSlower;
  }
  if (estimate.slowdown < faster && interval.high < faster) {
    return PairedVerdict::kFaster;
  }
  return interval.low >= faster && interval.high <= slower ? PairedVerdict::kSame
                                                           : PairedVerdict::kMorePairs;
}

PairedLook LookAt(const std::vector<TimedPair>& pairs, const PairedPlan& plan) {
  PairedLook look;
  if (static_cast<int64_t>(pairs.size()) < PairedPlan::kFewest) {
    return look;
  }
  look.estimate = EstimateSlowdown(
      pairs, {.confidence = plan.Confidence(), .resamples = 1'000, .seed = pairs.size()});
  look.verdict = JudgeInterval(*look.estimate, plan.threshold);
  return look;
}

}  // namespace kvbench
