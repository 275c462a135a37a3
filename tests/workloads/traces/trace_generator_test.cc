#include "workloads/traces/trace_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/workloads/testing.h"
#include "workloads/traces/trace_digest.h"

namespace kvbench {
namespace {

using testing::HasSubstr;

// These digests hold on every machine and for ever: a record names a trace by them. When one
// changes, so did the generator, and records of before and after do not compare.
TEST(MakeTraceTest, GoldenDigests) {
  EXPECT_EQ(TraceDigest(MakeTrace({"sharegpt:scale=0.25", "all-at-once", 0, 100, 1})),
            "95b16105442b306ff78ce9f32e011b18a97f62c58527d07d7a93ec5716454fd0");
  EXPECT_EQ(TraceDigest(MakeTrace({"alpaca", "poisson", 30, 1000, 7})),
            "bb56af07a038f8e923c52bd6db1b413f98e0be7b04c100161706d1125b7676da");
  EXPECT_EQ(TraceDigest(
                MakeTrace({"lognormal:prompt_mean=161:prompt_sd=300:output_mean=338:output_sd=284",
                           "gamma:cv=2", 4, 1000, 3})),
            "f173c48c6970e5f0e099ca0e3ddd33812636b283883b488c09d0a77e3f31d2fa");
  EXPECT_EQ(TraceDigest(MakeTrace({"uniform:prompt=16-512:output=1-256", "constant", 3, 1000, 0})),
            "8b195425eaffc495dbbd0bfdf3cbb27626a3de6999e81911f1a636afa20ccf62");
  EXPECT_EQ(
      TraceDigest(MakeTrace({"azure-code:cap=4096:over=redraw", "gamma:cv=0.5", 2, 1000, 11})),
      "19e8ff3f01f26cd647a718698b1ff0d25d2a22633de17d96091bfce486e06979");
}

TEST(MakeTraceTest, LengthsAndArrivalsAreIndependent) {
  const Trace a = MakeTrace({"sharegpt", "poisson", 4, 200, 5});
  const Trace b = MakeTrace({"sharegpt", "gamma:cv=3", 9, 200, 5});
  const Trace c = MakeTrace({"fixed:prompt=8:output=8", "poisson", 4, 200, 5});
  for (size_t i = 0; i < a.requests.size(); ++i) {
    ASSERT_EQ(a.requests[i].prompt_tokens, b.requests[i].prompt_tokens);
    ASSERT_EQ(a.requests[i].output_tokens, b.requests[i].output_tokens);
    ASSERT_EQ(a.requests[i].arrival_ns, c.requests[i].arrival_ns);
  }
  EXPECT_NE(TraceDigest(a), TraceDigest(MakeTrace({"sharegpt", "poisson", 4, 200, 6})));
}

TEST(MakeTraceTest, AShorterTraceIsTheBeginningOfALongerOne) {
  const Trace longer = MakeTrace({"sharegpt", "poisson", 4, 200, 5});
  Trace shorter = MakeTrace({"sharegpt", "poisson", 4, 50, 5});
  for (size_t i = 0; i < shorter.requests.size(); ++i) {
    ASSERT_EQ(shorter.requests[i], longer.requests[i]);
  }
}

TEST(MakeTraceTest, DrawnOneByOneItIsTheSame) {
  GeneratorSpec spec{"alpaca", "gamma:cv=2", 8, 500, 9};
  const Trace trace = MakeTrace(spec);
  ASSERT_EQ(trace.requests.size(), 500U);
  GeneratedSource source(spec);
  TraceDigester digester;
  Request request;
  for (const Request& expected : trace.requests) {
    ASSERT_TRUE(source.Next(request));
    ASSERT_EQ(request, expected);
    digester.Add(request);
  }
  EXPECT_FALSE(source.Next(request));
  EXPECT_EQ(digester.Finish(), TraceDigest(trace));
  EXPECT_EQ(DescribeGenerated(spec).source, trace.source);
}

TEST(MakeTraceTest, ADurationTakesThoseThatArriveBeforeItsEnd) {
  GeneratorSpec spec{"sharegpt", "poisson", 4, 100'000, 5};
  const Trace all = MakeTrace({"sharegpt", "poisson", 4, 1000, 5});
  spec.duration_ns = 60'000'000'000;
  const Trace trace = MakeTrace(spec);
  ASSERT_GT(trace.requests.size(), 150U);
  EXPECT_LT(trace.requests.back().arrival_ns, spec.duration_ns);
  EXPECT_GE(all.requests[trace.requests.size()].arrival_ns, spec.duration_ns);
  EXPECT_EQ(trace.source,
            "generated: lengths=sharegpt arrivals=poisson rate=4 duration=60s seed=5");
  spec.arrivals = "all-at-once";
  EXPECT_THAT(SentenceOf([&] { MakeTrace(spec); }), HasSubstr("--duration needs arrivals"));
}

TEST(MakeTraceTest, SaysWhereItCameFrom) {
  const Trace trace = MakeTrace({"sharegpt", "poisson", 2.5, 10, 5});
  EXPECT_EQ(trace.name, "sharegpt");
  EXPECT_EQ(trace.source,
            "generated: lengths=sharegpt arrivals=poisson rate=2.5 requests=10 seed=5");
  EXPECT_EQ(trace.request_rate, "2.5");
  EXPECT_EQ(trace.seed, 5);
  EXPECT_TRUE(trace.has_arrivals);
  EXPECT_EQ(MakeTrace({"sharegpt", "all-at-once", 0, 10, 5}).request_rate, "inf");
  EXPECT_EQ(MakeTrace({"sharegpt", "poisson", std::numeric_limits<double>::infinity(), 10, 5})
                .request_rate,
            "inf");
}

TEST(MakeTraceTest, SaysWhatIsWrong) {
  const auto sentence = [](const GeneratorSpec& spec) {
    return SentenceOf([&] { MakeTrace(spec); });
  };
  EXPECT_THAT(sentence({"sharegpt", "poisson", 4, 0, 0}),
              HasSubstr("--requests 0 is not a number from 1"));
  EXPECT_THAT(sentence({"sharegpt", "poisson", 4, 10, -1}), HasSubstr("--seed -1 is negative"));
  EXPECT_THAT(sentence({"sharegpt", "poisson", 0, 10, 0}), HasSubstr("--rate 0 is not positive"));
  EXPECT_THAT(sentence({"sharegpt", "file", 4, 10, 0}), HasSubstr("needs a trace file"));
  EXPECT_THAT(sentence({"nothing", "poisson", 4, 10, 0}), HasSubstr("no such lengths"));
}

}  // namespace
}  // namespace kvbench
