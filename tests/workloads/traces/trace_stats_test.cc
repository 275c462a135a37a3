#include "workloads/traces/trace_stats.h"

#include <gtest/gtest.h>

#include "tests/workloads/testing.h"
#include "workloads/traces/trace_reader.h"

namespace kvbench {
namespace {

TraceStats StatsOf(const char* file) {
  return ComputeTraceStats(ReadTrace((SharedData() / "traces" / file).string()));
}

TEST(TraceStatsTest, SmallTraceByHand) {
  Trace trace;
  trace.requests = {{0, 1, 10, {1, 2}}, {1'000'000'000, 2, 10, {1, 3}}, {4'000'000'000, 3, 10, {}}};
  const TraceStats stats = ComputeTraceStats(trace);
  EXPECT_EQ(stats.requests, 3);
  EXPECT_EQ(stats.prompt.mean, 2.0);
  EXPECT_EQ(stats.prompt.p50, 2.0);
  EXPECT_DOUBLE_EQ(stats.prompt.p90, 2.8);
  EXPECT_EQ(stats.prompt.max, 3);
  EXPECT_EQ(stats.output.p99, 10.0);
  EXPECT_EQ(stats.span_s, 4.0);
  EXPECT_EQ(stats.rate, 0.5);
  EXPECT_DOUBLE_EQ(*stats.gap_cv, 0.5) << "gaps 1 and 3";
  EXPECT_EQ(stats.prefix_reuse, 0.25) << "one of four ids repeats";
}

TEST(TraceStatsTest, OneRequest) {
  Trace trace;
  trace.requests = {{5, 7, 9, {}}};
  const TraceStats stats = ComputeTraceStats(trace);
  EXPECT_EQ(stats.prompt.p99, 7.0);
  EXPECT_FALSE(stats.span_s);
  EXPECT_FALSE(stats.gap_cv);
  EXPECT_FALSE(stats.prefix_reuse);
}

// The figures published with the files.
TEST(TraceStatsTest, PublishedFigures) {
  KVBENCH_NEEDS_SHARED_DATA();
  const TraceStats azure = StatsOf("azure/AzureLLMInferenceTrace_conv.csv");
  EXPECT_NEAR(*azure.span_s, 3501.7, 0.05);
  EXPECT_NEAR(*azure.rate, 5.5301, 0.00005);
  EXPECT_NEAR(*azure.gap_cv, 1.09, 0.005);
  EXPECT_NEAR(azure.prompt.mean, 1154.7, 0.05);
  EXPECT_EQ(azure.prompt.p50, 1020.0);
  EXPECT_EQ(azure.prompt.p90, 2734.5);
  EXPECT_EQ(azure.prompt.p99, 4142.0);
  EXPECT_EQ(azure.prompt.max, 14050);
  EXPECT_NEAR(azure.output.mean, 211.1, 0.05);
  const TraceStats mooncake = StatsOf("mooncake/conversation_trace.jsonl");
  EXPECT_NEAR(*mooncake.prefix_reuse, 0.3664, 0.00005);
  EXPECT_NEAR(*mooncake.gap_cv, 3.034, 0.001);
  EXPECT_NEAR(mooncake.prompt.p99, 85400.4, 0.05);
  const TraceStats burst = StatsOf("burstgpt/burstgpt_slice.csv");
  EXPECT_EQ(*burst.span_s, 37269.0);
  EXPECT_NEAR(*burst.gap_cv, 4.464, 0.001);
  EXPECT_NEAR(burst.output.p99, 1424.8, 0.05);
}

}  // namespace
}  // namespace kvbench
