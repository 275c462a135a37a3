// Rate searches against closed forms: one request at a time, arriving at a constant gap.
#include "bench/run/find_rate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "bench/run/rate_table.h"

namespace kvbench {
namespace {

using testing::HasSubstr;

constexpr double kTolerance = 0.01;

/// A server of one request at a time, with requests that are all alike.
AxisValues OneByOne() {
  return {{"executor", {"modelled"}}, {"hardware", {"a100-sxm4-40gb"}},
          {"model", {"opt-13b"}},     {"lengths", {"fixed:prompt=100:output=50"}},
          {"arrivals", {"constant"}}, {"requests", {"101"}},
          {"max-num-seqs", {"1"}}};
}

FoundRate Find(const AxisValues& axes) {
  const std::vector<PlannedRun> runs = PlanRuns(ExpandRuns(axes));
  EXPECT_EQ(runs.size(), 1U);
  std::optional<FoundRate> found = FindRate(runs.at(0), {});
  EXPECT_TRUE(found.has_value());
  return std::move(*found);
}

/// Seconds that a request takes that is alone.
double ServiceSeconds() {
  AxisValues axes = OneByOne();
  axes["requests"] = {"1"};
  axes["rate"] = {"1"};
  const std::optional<RunRecord> record = RunOnce(PlanRuns(ExpandRuns(axes)).at(0), {});
  return *record->e2el["max"] / 1000;
}

TEST(SearchRateTest, FindsAnEdgeFromBelowAndAbove) {
  for (const double edge : {0.013, 0.9999, 1.0, 1.5, 7.3, 12'345.6}) {
    for (const double tolerance : {0.1, 0.01, 0.001}) {
      int64_t asked = 0;
      const RateBounds bounds = SearchRate(1, tolerance, [&](double rate) {
        ++asked;
        return rate <= edge ? RateVerdict::kHolds : RateVerdict::kMisses;
      });
      ASSERT_TRUE(bounds.holds && bounds.misses) << edge;
      EXPECT_LE(*bounds.holds, edge);
      EXPECT_GT(*bounds.misses, edge);
      EXPECT_LE(*bounds.misses - *bounds.holds, tolerance * *bounds.holds);
      EXPECT_EQ(bounds.runs, asked);
      // Doublings, the one that turns, and a bisection for each factor of two of the tolerance.
      EXPECT_LE(asked, std::abs(std::log2(edge)) + 3 + std::ceil(-std::log2(tolerance)));
    }
  }
}

TEST(SearchRateTest, EndsWhereThereIsNoEdge) {
  const RateBounds all = SearchRate(1, 0.01, [](double rate) {
    return rate < 100 ? RateVerdict::kHolds : RateVerdict::kHoldsEverywhere;
  });
  EXPECT_EQ(all.holds, 128);
  EXPECT_FALSE(all.misses.has_value());
  EXPECT_EQ(all.runs, 8);
  const RateBounds none = SearchRate(1, 0.01, [](double rate) {
    return rate > 0.1 ? RateVerdict::kMisses : RateVerdict::kMissesEverywhere;
  });
  EXPECT_FALSE(none.holds.has_value());
  EXPECT_EQ(none.misses, 0.0625);
  EXPECT_EQ(none.runs, 5);
}

TEST(SearchRateTest, AnEdgeBelowTheLastDigitEndsTheBisection) {
  const RateBounds bounds = SearchRate(1.0001, 1e-9, [](double rate) {
    return rate <= 1.00013 ? RateVerdict::kHolds : RateVerdict::kMisses;
  });
  EXPECT_EQ(bounds.holds, 1.0001);
  EXPECT_EQ(bounds.misses, 1.0002);
}

// Request i of n waits i (S - gap), so the mean latency is S + (n - 1) / 2 (S - gap).
TEST(FindRateTest, NormalizedLatencyOfAQueueOfOne) {
  const double service = ServiceSeconds();
  for (const double goal : {0.05, 0.1}) {
    AxisValues axes = OneByOne();
    axes["find-rate"] = {"normalized_latency=" + std::to_string(goal) + "s"};
    const FoundRate found = Find(axes);
    ASSERT_TRUE(found.found());
    const double gap = service - (goal * 50 - service) / 50;
    EXPECT_GT(gap, 0);
    EXPECT_NEAR(*found.bounds.holds * gap, 1, kTolerance) << goal;
    EXPECT_LE(*found.bounds.holds, 1 / gap * (1 + 1e-9));
    EXPECT_LE(*found.record.normalized_latency_mean_s_per_token, goal);
    EXPECT_EQ(found.record.trace.request_rate, *found.bounds.holds);
    EXPECT_EQ(found.record.completed, 101);
    EXPECT_THAT(found.record.notes.back(), HasSubstr("is the highest rate"));
    EXPECT_THAT(found.record.notes.back(), HasSubstr("to 1 %"));
    EXPECT_THAT(found.record.notes.back(),
                HasSubstr(std::to_string(found.bounds.runs) + " runs tried"));
  }
}

// Request i is within the goal X while S + i (S - gap) <= X; half of 101 are requests 0 to 50.
TEST(FindRateTest, ShareOfRequestsWithinTheirGoals) {
  const double service = ServiceSeconds();
  const double goal = 3 * service;
  AxisValues axes = OneByOne();
  axes["slo"] = {"e2el=" + std::to_string(goal) + "s"};
  axes["find-rate"] = {"slo=0.5"};
  const FoundRate half = Find(axes);
  ASSERT_TRUE(half.found());
  EXPECT_NEAR(*half.bounds.holds * (service - (goal - service) / 50), 1, kTolerance);
  axes["find-rate"] = {"slo"};
  axes["rate-tolerance"] = {"0.001"};
  const FoundRate most = Find(axes);  // 99 % of 101 are 100: request 99 is the last that must
  ASSERT_TRUE(most.found());
  EXPECT_NEAR(*most.bounds.holds * (service - (goal - service) / 99), 1, 0.001);
  EXPECT_THAT(most.record.notes.back(), HasSubstr("99 % of the requests within end-to-end"));
  EXPECT_THAT(most.record.notes.back(), HasSubstr("to 0.1 %"));
}

TEST(FindRateTest, StartsAnywhere) {
  AxisValues axes = OneByOne();
  axes["find-rate"] = {"normalized_latency=0.1s"};
  const double rate = *Find(axes).bounds.holds;
  for (const char* start : {"0.001", "0.3", "1000"}) {
    axes["rate"] = {start};
    EXPECT_NEAR(*Find(axes).bounds.holds / rate, 1, kTolerance) << start;
  }
}

TEST(FindRateTest, AGoalThatEveryRateHolds) {
  AxisValues axes = OneByOne();
  axes["find-rate"] = {"normalized_latency=1h"};
  const FoundRate found = Find(axes);
  EXPECT_FALSE(found.found());
  EXPECT_TRUE(std::isinf(*found.record.trace.request_rate));
  EXPECT_EQ(found.bounds.runs, 2);
  EXPECT_THAT(found.record.notes.back(), HasSubstr("even all requests at once hold"));

#ifndef __SANITIZE_ADDRESS__  // five million requests
  axes.erase("requests");
  axes["duration"] = {"1s"};
  axes["lengths"] = {"fixed:prompt=1:output=1"};
  axes["max-num-seqs"] = {"2000"};
  axes["rate"] = {"5000001"};
  const FoundRate dense = Find(axes);
  EXPECT_FALSE(dense.found());
  EXPECT_THAT(dense.record.notes.back(), HasSubstr("every rate that can be tried holds"));
#endif
}

TEST(FindRateTest, AGoalThatNoRateHolds) {
  AxisValues axes = OneByOne();
  axes["find-rate"] = {"normalized_latency=1ms"};
  const FoundRate found = Find(axes);
  EXPECT_FALSE(found.found());
  EXPECT_FALSE(found.bounds.holds.has_value());
  EXPECT_EQ(found.record.peak_running_requests, 1);
  EXPECT_THAT(found.record.notes.back(), HasSubstr("even where every request runs alone"));

  axes.erase("requests");
  axes["duration"] = {"10s"};
  axes["arrivals"] = {"poisson"};
  EXPECT_FALSE(Find(axes).bounds.holds.has_value());

  // Rejected requests never meet a goal, at whatever rate.
  axes = OneByOne();
  axes["lengths"] = {"uniform:prompt=1-4000:output=1"};
  axes["slo"] = {"e2el=100h"};
  axes["find-rate"] = {"slo"};
  const FoundRate rejected = Find(axes);
  EXPECT_FALSE(rejected.bounds.holds.has_value());
  EXPECT_GT(rejected.record.rejected, 1);
}

TEST(FindRateTest, StopsWhenTold) {
  AxisValues axes = OneByOne();
  axes["find-rate"] = {"normalized_latency=0.1s"};
  const PlannedRun run = PlanRuns(ExpandRuns(axes)).at(0);
  int64_t tries = 0;
  RunOnceOptions options;
  options.on_step = [&](const EngineProgress&) { return tries < 4; };
  EXPECT_FALSE(FindRate(run, options, [&](double) { ++tries; }).has_value());
  EXPECT_EQ(tries, 4);
}

TEST(RateTableTest, ShowsWhatTellsRunsApart) {
  RunRecord contiguous;
  contiguous.model.name = "opt-13b";
  contiguous.design.name = "contiguous-max";
  contiguous.trace.seed = 3;
  RunRecord paged = contiguous;
  paged.design.name = "paged";
  paged.design.block_size = 16;
  RunRecord fine = paged;
  fine.design.block_size = 8;
  const RateBounds found = {.holds = 1.5, .misses = 1.51, .runs = 9};
  const RateBounds everywhere = {.holds = 1, .misses = {}, .runs = 2};
  const RateBounds nowhere = {.holds = {}, .misses = 1, .runs = 2};
  const std::string text =
      RateTable({{&contiguous, found}, {&paged, everywhere}, {&fine, nowhere}});
  EXPECT_THAT(text, HasSubstr("design          block-size  requests/s\n"));
  EXPECT_THAT(text, HasSubstr("contiguous-max  none               1.5\n"));
  EXPECT_THAT(text, HasSubstr("paged           16                 any\n"));
  EXPECT_THAT(text, HasSubstr("paged           8                 none\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("seed")));
  EXPECT_EQ(RateTable({}), "");
}

void ExpectRefused(const AxisValues& axes, const std::string& part) {
  try {
    PlanRuns(ExpandRuns(axes));
    ADD_FAILURE() << part;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
    EXPECT_EQ(error.exit_code(), 2);
  }
}

TEST(FindRateTest, RefusesWhatHasNoRate) {
  AxisValues axes = OneByOne();
  axes["find-rate"] = {"normalized_latency=0.1s"};
  const auto with = [&](const char* name, const char* value) {
    AxisValues changed = axes;
    changed[name] = {value};
    return changed;
  };
  ExpectRefused(with("executor", "cpu"), "--find-rate is modelled only");
  ExpectRefused(with("find-rate", "slo"), "add --slo");
  ExpectRefused(with("max-concurrency", "3"), "a closed loop has no rate");
  ExpectRefused(with("arrivals", "all-at-once"), "--arrivals poisson");
  ExpectRefused(with("rate", "inf"), "must be finite");
  ExpectRefused(with("find-rate", "latency=1s"), "normalized_latency=0.5s");
  ExpectRefused(with("find-rate", "slo=2"), "not a share");
  ExpectRefused(with("find-rate", "normalized_latency=0"), "0 s a token");
  ExpectRefused(with("rate-tolerance", "0"), "0.0001 to 0.5");
}

}  // namespace
}  // namespace kvbench
