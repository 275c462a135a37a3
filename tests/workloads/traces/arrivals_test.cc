#include "workloads/traces/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/workloads/testing.h"
#include "workloads/traces/trace_reader.h"

namespace kvbench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Gaps {
  double mean_s = 0, cv = 0, beyond_five_means = 0;
};

Gaps GapsOf(const std::vector<int64_t>& times) {
  std::vector<double> gaps;
  int64_t before = 0;
  for (const int64_t time : times) {
    gaps.push_back(static_cast<double>(time - before) * 1e-9);
    before = time;
  }
  Gaps result;
  const auto n = static_cast<double>(gaps.size());
  for (const double gap : gaps) {
    result.mean_s += gap / n;
  }
  double variance = 0;
  for (const double gap : gaps) {
    variance += (gap - result.mean_s) * (gap - result.mean_s) / n;
    result.beyond_five_means += gap > 5.0 * result.mean_s ? 1.0 / n : 0.0;
  }
  result.cv = std::sqrt(variance) / result.mean_s;
  return result;
}

TEST(ParseArrivalsTest, Kinds) {
  EXPECT_EQ(ParseArrivals("poisson").kind, ArrivalSpec::Kind::kPoisson);
  EXPECT_EQ(ParseArrivals("gamma:cv=2").kind, ArrivalSpec::Kind::kGamma);
  EXPECT_EQ(ParseArrivals("gamma:cv=2").cv, 2.0);
  EXPECT_EQ(ParseArrivals("constant").kind, ArrivalSpec::Kind::kConstant);
  EXPECT_EQ(ParseArrivals("all-at-once").kind, ArrivalSpec::Kind::kAllAtOnce);
  EXPECT_EQ(ParseArrivals("file").kind, ArrivalSpec::Kind::kFile);
  EXPECT_EQ(ParseArrivals("file:speed=2").speed, 2.0);
}

TEST(ParseArrivalsTest, SaysWhatIsWrong) {
  EXPECT_THAT(SentenceOf([] { ParseArrivals("posson"); }), HasSubstr("choose poisson, gamma:cv=2"));
  EXPECT_THAT(SentenceOf([] { ParseArrivals("gamma"); }), HasSubstr("cv is missing"));
  EXPECT_THAT(SentenceOf([] { ParseArrivals("gamma:cv=0"); }), HasSubstr("not a number from"));
  EXPECT_THAT(SentenceOf([] { ParseArrivals("poisson:cv=1"); }), HasSubstr("takes no options"));
  EXPECT_THAT(SentenceOf([] { ParseArrivals("file:speed=0"); }), HasSubstr("speed"));
}

TEST(GenerateArrivalsTest, PoissonHasTheRateAndTheGapsOfOne) {
  const std::vector<int64_t> times = GenerateArrivals(ParseArrivals("poisson"), 200.0, 200'000, 1);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  EXPECT_GT(times.front(), 0);
  const Gaps gaps = GapsOf(times);
  EXPECT_NEAR(gaps.mean_s * 200.0, 1.0, 0.01) << "the achieved rate";
  EXPECT_NEAR(gaps.cv, 1.0, 0.02);
  EXPECT_NEAR(gaps.beyond_five_means, std::exp(-5.0), 0.0008) << "gaps are not cut";
}

TEST(GenerateArrivalsTest, GammaHasTheVariationAskedFor) {
  for (const double cv : {0.5, 1.0, 2.0, 5.0}) {
    ArrivalSpec spec{ArrivalSpec::Kind::kGamma, cv, 1.0};
    const Gaps gaps = GapsOf(GenerateArrivals(spec, 10.0, 400'000, 3));
    EXPECT_NEAR(gaps.mean_s * 10.0, 1.0, 0.007 * cv) << cv;
    EXPECT_NEAR(gaps.cv / cv, 1.0, 0.03) << cv;
  }
}

TEST(GenerateArrivalsTest, ConstantDoesNotDrift) {
  const std::vector<int64_t> times = GenerateArrivals(ParseArrivals("constant"), 3.0, 1'000'000, 0);
  EXPECT_EQ(times[0], 333'333'333);
  EXPECT_EQ(times[1], 666'666'667);
  EXPECT_EQ(times[2], 1'000'000'000);
  EXPECT_EQ(times[299'999], 100'000'000'000'000);
  EXPECT_EQ(times[899'999], 300'000'000'000'000) << "exactly 300,000 s after 900,000 requests";
}

TEST(GenerateArrivalsTest, AllAtOnce) {
  EXPECT_THAT(GenerateArrivals(ParseArrivals("all-at-once"), 0.0, 3, 0), Each(0));
  EXPECT_THAT(GenerateArrivals(ParseArrivals("poisson"), kInfinity, 3, 0), Each(0));
}

TEST(GenerateArrivalsTest, AnotherRateStretchesTheSamePattern) {
  const std::vector<int64_t> slow = GenerateArrivals(ParseArrivals("poisson"), 1.0, 1000, 5);
  const std::vector<int64_t> fast = GenerateArrivals(ParseArrivals("poisson"), 4.0, 1000, 5);
  for (size_t i = 0; i < slow.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(slow[i]) / 4.0, static_cast<double>(fast[i]), 1.0);
  }
}

TEST(GenerateArrivalsTest, SaysWhatIsWrong) {
  const auto sentence = [](double rate, int64_t count, int64_t seed) {
    return SentenceOf([&] { GenerateArrivals(ParseArrivals("poisson"), rate, count, seed); });
  };
  EXPECT_THAT(sentence(0.0, 1, 0), HasSubstr("--rate 0 is not positive"));
  EXPECT_THAT(sentence(-1.0, 1, 0), HasSubstr("not positive"));
  EXPECT_THAT(sentence(std::nan(""), 1, 0), HasSubstr("not positive"));
  EXPECT_THAT(sentence(1e-9, 1000, 0), HasSubstr("more than 100 days"));
  EXPECT_THAT(sentence(1.0, 1, -1), HasSubstr("--seed -1 is negative"));
  EXPECT_THAT(SentenceOf([] { GenerateArrivals(ParseArrivals("file"), 1.0, 1, 0); }),
              HasSubstr("needs a trace file"));
}

TEST(ApplySpeedTest, DividesAndRoundsHalfUp) {
  Trace trace;
  trace.requests = {{0, 1, 1, {}}, {3, 1, 1, {}}, {1'000'000, 1, 1, {}}};
  ApplySpeed(trace, 2.0);
  EXPECT_THAT(trace.requests,
              ElementsAre(Request{0, 1, 1, {}}, Request{2, 1, 1, {}}, Request{500'000, 1, 1, {}}));
  EXPECT_THAT(SentenceOf([&] { ApplySpeed(trace, 0.0); }),
              HasSubstr("a speed of 0 is out of range"));
  trace.requests.back().arrival_ns = kMaxArrivalNs;
  EXPECT_THAT(SentenceOf([&] { ApplySpeed(trace, 0.5); }), HasSubstr("more than 100 days"));
}

TEST(PutArrivalsTest, KeepsOrReplacesThoseOfTheFile) {
  Trace trace;
  trace.source = "t.csv";
  trace.requests = {{0, 1, 1, {}}, {10, 1, 1, {}}};
  PutArrivals(trace, "", 0.0, 0);
  PutArrivals(trace, "file", 0.0, 0);
  EXPECT_EQ(trace.requests[1].arrival_ns, 10);
  EXPECT_EQ(trace.request_rate, "");
  EXPECT_EQ(trace.source, "t.csv");
  EXPECT_EQ(trace.seed, -1);
  PutArrivals(trace, "file:speed=5", 0.0, 0);
  EXPECT_EQ(trace.requests[1].arrival_ns, 2);
  PutArrivals(trace, "poisson", 2.5, 9);
  EXPECT_GT(trace.requests[1].arrival_ns, 10);
  EXPECT_EQ(trace.request_rate, "2.5");
  EXPECT_EQ(trace.seed, 9);
  EXPECT_EQ(trace.source, "t.csv, arrivals=file:speed=5, arrivals=poisson rate=2.5 seed=9");
  PutArrivals(trace, "all-at-once", 0.0, 0);
  EXPECT_EQ(trace.requests[1].arrival_ns, 0);
  EXPECT_EQ(trace.request_rate, "inf");
}

TEST(PutArrivalsTest, ATraceWithoutArrivalsSaysSo) {
  Trace trace;
  trace.source = "lengths.csv";
  trace.has_arrivals = false;
  trace.requests = {{0, 1, 1, {}}};
  EXPECT_THAT(
      SentenceOf([&] { PutArrivals(trace, "", 0.0, 0); }),
      HasSubstr("lengths.csv: there are lengths but no arrival times; choose them by --arrivals"));
  PutArrivals(trace, "all-at-once", 0.0, 0);
  EXPECT_TRUE(trace.has_arrivals);
}

}  // namespace
}  // namespace kvbench
