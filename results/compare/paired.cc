#include "results/compare/paired.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace kvbench {
namespace {

/// A section's stretches: [first, last), and how much it weighs.
struct Section {
  size_t first = 0;
  size_t last = 0;
  double weight = 1;
};

std::vector<Section> Sections(const std::vector<TimedPair>& pairs) {
  const size_t stretches = pairs.front().base.size();
  const size_t count = std::min(kPairedSections, stretches);
  std::vector<Section> sections;
  std::vector<double> times;
  for (size_t i = 0; i < count; ++i) {
    Section section{.first = i * stretches / count, .last = (i + 1) * stretches / count};
    times.clear();
    for (const TimedPair& pair : pairs) {
      for (const std::vector<double>* side : {&pair.base, &pair.next}) {
        times.push_back(std::accumulate(side->begin() + static_cast<std::ptrdiff_t>(section.first),
                                        side->begin() + static_cast<std::ptrdiff_t>(section.last),
                                        0.0));
      }
    }
    section.weight = MedianInPlace(times);
    sections.push_back(section);
  }
  return sections;
}

/// Of the pairs with those numbers. ratios: [pairs][stretches] new / base.
double Slowdown(const std::vector<std::vector<double>>& ratios,
                const std::vector<Section>& sections, const std::vector<size_t>& picked,
                std::vector<double>& scratch) {
  double sum = 0;
  double weights = 0;
  for (const Section& section : sections) {
    scratch.clear();
    for (const size_t pair : picked) {
      const std::vector<double>& own = ratios[pair];
      scratch.insert(scratch.end(), own.begin() + static_cast<std::ptrdiff_t>(section.first),
                     own.begin() + static_cast<std::ptrdiff_t>(section.last));
    }
    sum += section.weight * MedianInPlace(scratch);
    weights += section.weight;
  }
  return sum / weights;
}

}  // namespace

PairedEstimate EstimateSlowdown(const std::vector<TimedPair>& pairs,
                                const BootstrapOptions& options) {
  assert(!pairs.empty());
  const std::vector<Section> sections = Sections(pairs);
  std::vector<std::vector<double>> ratios;
  for (const TimedPair& pair : pairs) {
    std::vector<double>& own = ratios.emplace_back();
    for (size_t i = 0; i < pair.base.size(); ++i) {
      own.push_back(pair.next[i] / pair.base[i]);
    }
  }
  std::vector<size_t> picked(pairs.size());
  std::iota(picked.begin(), picked.end(), size_t{0});
  std::vector<double> scratch;
  PairedEstimate estimate;
  estimate.slowdown = Slowdown(ratios, sections, picked, scratch);
  estimate.interval = Bootstrap(options, [&](Resampler& resampler) {
    for (size_t& index : picked) {
      index = resampler.Below(pairs.size());
    }
    return Slowdown(ratios, sections, picked, scratch);
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
