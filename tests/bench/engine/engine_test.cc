#include "bench/engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "base/error.h"
#include "bench/designs/design_registry.h"
#include "cache/paged_cache.h"
#include "tests/bench/engine/fixed_executor.h"
#include "tests/bench/engine/naive_engine.h"

namespace kvbench {
namespace {

constexpr int64_t kMs = 1'000'000;  // ns
constexpr int64_t kPsPerMs = 1'000'000'000;

Trace RandomTrace(std::mt19937& random, int64_t requests, int64_t longest, bool at_once) {
  Trace trace;
  int64_t arrival = 0;
  for (int64_t i = 0; i < requests; ++i) {
    arrival += at_once ? 0 : static_cast<int64_t>(random() % (8 * kMs));
    trace.requests.push_back(
        {.arrival_ns = arrival,
         .prompt_tokens = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(longest)),
         .output_tokens = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(longest)),
         .prefix_ids = {}});
  }
  return trace;
}

EngineResult RunTrace(const Trace& trace, const EngineLimits& limits, KvCache& cache,
                      Executor& executor, const EngineOptions& options) {
  TraceSource source(trace);
  return RunEngine(source, limits, cache, executor, options);
}

EngineOptions KeepRequests() {
  EngineOptions options;
  options.metrics.keep_requests = true;
  return options;
}

/// Rows in the order of the trace.
std::vector<RequestRow> Rows(const Metrics& metrics) {
  std::vector<RequestRow> rows = metrics.rows();
  std::sort(rows.begin(), rows.end(),
            [](const RequestRow& a, const RequestRow& b) { return a.index < b.index; });
  return rows;
}

TEST(EngineTest, GivesTheNaiveEnginesStepsForEveryDesign) {
  std::mt19937 random(7);
  int64_t moves = 0;
  int64_t preemptions = 0;
  int64_t recomputed = 0;
  int64_t rejected = 0;
  int compared = 0;
  for (int round = 0; round < 120; ++round) {
    EngineLimits limits;
    limits.chunked_prefill = random() % 2 == 0;
    limits.max_model_len = 20 + static_cast<int64_t>(random() % 200);
    limits.max_num_batched_tokens = 16 + static_cast<int64_t>(random() % 300);
    limits.max_num_seqs = 1 + static_cast<int64_t>(random() % 20);
    limits.max_concurrency = random() % 3 == 0 ? 1 + static_cast<int64_t>(random() % 10) : 0;
    const int64_t slots = 64 + static_cast<int64_t>(random() % 3000);
    const Trace trace = RandomTrace(random, 60, 100, round % 2 == 0);
    for (const Design& design : Designs()) {
      if (!design.holds_cache) {
        continue;
      }
      const int32_t block_size = 1 << (random() % 7);
      const bool concat = round % 2 == 1;
      const std::unique_ptr<KvCache> cache = design.make({.slots = slots,
                                                          .block_size = block_size,
                                                          .max_model_len = limits.max_model_len,
                                                          .growth = concat ? "concat" : "double"});
      NaiveEngine naive(trace, limits, std::string(design.name), slots, block_size, 5 * kMs,
                        concat);
      naive.Run();

      FixedExecutor executor(5 * kPsPerMs);
      std::vector<int64_t> tokens;
      executor.observe = [&](const StepBatch& batch, const KvCache&) {
        tokens.push_back(batch.tokens());
        ASSERT_LE(batch.tokens(), limits.max_num_batched_tokens);
        ASSERT_LE(static_cast<int64_t>(batch.entries.size()), limits.max_num_seqs);
      };
      const EngineResult result = RunTrace(trace, limits, *cache, executor, {});
      const Metrics& metrics = result.metrics;

      ASSERT_EQ(metrics.total_steps(), static_cast<int64_t>(naive.steps.size()));
      if (naive.steps.size() > Metrics::kMaxTimeline) {
        continue;  // the timeline holds not every one of them
      }
      ++compared;
      ASSERT_EQ(metrics.timeline().size(), naive.steps.size())
          << design.name << ", round " << round;
      for (size_t i = 0; i < naive.steps.size(); ++i) {
        const TimelineSample& sample = metrics.timeline()[i];
        const NaiveEngine::Step step{sample.running, sample.waiting, tokens[i], sample.usage};
        ASSERT_EQ(step.running, naive.steps[i].running)
            << design.name << ", round " << round << ", step " << i;
        ASSERT_EQ(step, naive.steps[i]) << design.name << ", round " << round << ", step " << i;
      }
      EXPECT_EQ(metrics.preemptions(), naive.preemptions);
      EXPECT_EQ(metrics.recomputed_tokens(), naive.recomputed);
      EXPECT_EQ(metrics.operations().operations, naive.moves);
      EXPECT_EQ(metrics.operations().tokens, naive.moved_tokens);
      const int64_t refused =
          std::accumulate(metrics.rejected().begin(), metrics.rejected().end(), int64_t{0},
                          [](int64_t sum, const auto& r) { return sum + r.second; });
      EXPECT_EQ(refused, naive.rejected);
      EXPECT_EQ(metrics.finished() + refused, 60);
      moves += naive.moves;
      preemptions += naive.preemptions;
      recomputed += naive.recomputed;
      rejected += naive.rejected;
    }
  }
  EXPECT_GT(compared, 300);
  // The rounds must have met what they are there for.
  EXPECT_GT(moves, 1000);
  EXPECT_GT(preemptions, 500);
  EXPECT_GT(recomputed, 1000);
  EXPECT_GT(rejected, 1000);
}

TEST(EngineTest, LatencyCountsFromTheScheduledArrival) {
  // 8 requests at 10/s, 500 ms of service, one at a time: mean 1,900 ms, largest 3,300 ms
  // (vllm#54101 measured 1,932 and 3,330), whether the server's cap or the client's makes them
  // wait.
  for (const bool client_waits : {false, true}) {
    Trace trace;
    for (int64_t i = 0; i < 8; ++i) {
      trace.requests.push_back({.arrival_ns = (i + 1) * 100 * kMs,
                                .prompt_tokens = 4,
                                .output_tokens = 1,
                                .prefix_ids = {}});
    }
    EngineLimits limits;
    limits.max_num_seqs = client_waits ? 100 : 1;
    limits.max_concurrency = client_waits ? 1 : 0;
    PagedCache cache(1024, 16);
    FixedExecutor executor(500 * kPsPerMs);
    const EngineResult result = RunTrace(trace, limits, cache, executor, KeepRequests());
    int64_t sum = 0;
    int64_t largest = 0;
    for (size_t i = 0; i < 8; ++i) {
      const int64_t latency =
          Rows(result.metrics)[i].outcome.finished_ps - trace.requests[i].arrival_ns * 1000;
      sum += latency;
      largest = std::max(largest, latency);
    }
    EXPECT_EQ(sum / 8, 1900 * kPsPerMs);
    EXPECT_EQ(largest, 3300 * kPsPerMs);
  }
}

TEST(EngineTest, TtftAndGapsAddUpToTheLatency) {
  std::mt19937 random(3);
  const Trace trace = RandomTrace(random, 50, 60, false);
  PagedCache cache(400, 4);
  FixedExecutor executor(3 * kPsPerMs);
  const EngineResult result = RunTrace(trace, {}, cache, executor, KeepRequests());
  ASSERT_GT(result.metrics.preemptions(), 0);
  const std::vector<RequestRow> rows = Rows(result.metrics);
  int64_t latency = 0;
  int64_t first = 0;
  int64_t outputs = 0;
  for (size_t i = 0; i < trace.requests.size(); ++i) {
    const RequestOutcome& o = rows[i].outcome;
    ASSERT_GE(o.admitted_ps, trace.requests[i].arrival_ns * 1000);
    ASSERT_EQ(o.last_token_ps, o.finished_ps);
    latency += o.finished_ps - trace.requests[i].arrival_ns * 1000;
    first += o.first_token_ps - trace.requests[i].arrival_ns * 1000;
    outputs += trace.requests[i].output_tokens;
  }
  const LatencySamples& gaps = result.metrics.itl();
  EXPECT_EQ(gaps.count(), outputs - 50);
  EXPECT_EQ(first + static_cast<int64_t>(gaps.sum_ps()), latency);
}

TEST(EngineTest, ARequestAsLongAsTheCacheLessItsWatermarkRunsAndOneTokenLongerIsRejected) {
  // 200 blocks, watermark 2: the longest that can be admitted at all has 198 blocks.
  const int64_t most = 198 * 16;
  Trace trace;
  for (const int64_t length : {most, most + 1, int64_t{300}, most}) {
    trace.requests.push_back(
        {.arrival_ns = 0, .prompt_tokens = 200, .output_tokens = length - 200, .prefix_ids = {}});
  }
  EngineLimits limits;
  limits.max_model_len = 4096;
  PagedCache cache(200 * 16, 16);
  FixedExecutor executor(kPsPerMs);
  const EngineResult result = RunTrace(trace, limits, cache, executor, KeepRequests());
  EXPECT_EQ(result.metrics.finished(), 3);
  ASSERT_EQ(result.metrics.rejected().size(), 1U);
  EXPECT_EQ(result.metrics.rejected().begin()->second, 1);
  EXPECT_TRUE(Rows(result.metrics)[1].outcome.rejected);
  EXPECT_GT(result.metrics.preemptions(), 0);
}

TEST(EngineTest, TimelineKeepsEverySecondPowerOfTwoStepAndAddsUp) {
  Trace trace;
  trace.requests.push_back(
      {.arrival_ns = 0, .prompt_tokens = 1, .output_tokens = 9000, .prefix_ids = {}});
  EngineLimits limits;
  limits.max_model_len = 10'000;
  PagedCache cache(12'000, 16);
  FixedExecutor executor(kPsPerMs);
  const EngineResult result = RunTrace(trace, limits, cache, executor, {});
  const std::vector<TimelineSample>& timeline = result.metrics.timeline();
  EXPECT_EQ(result.metrics.total_steps(), 9000);
  EXPECT_EQ(timeline.size(), 563U);  // every 16th of 9,000
  for (size_t i = 0; i < timeline.size(); ++i) {
    EXPECT_EQ(timeline[i].time_ps, (static_cast<int64_t>(i) * 16 + 1) * kPsPerMs);
    EXPECT_EQ(timeline[i].usage.capacity(), cache.capacity_slots());
    EXPECT_EQ(timeline[i].usage.live, static_cast<int64_t>(i) * 16 + 2);
  }
}

TEST(EngineTest, WindowLeavesOutStepsAndRequestsOutsideIt) {
  Trace trace;
  for (int64_t i = 0; i < 10; ++i) {
    trace.requests.push_back(
        {.arrival_ns = i * 10 * kMs, .prompt_tokens = 4, .output_tokens = 5, .prefix_ids = {}});
  }
  PagedCache cache(1024, 16);
  FixedExecutor executor(kPsPerMs);
  EngineOptions options;
  options.metrics.window = {.from_ps = 20 * kPsPerMs, .to_ps = 50 * kPsPerMs};
  const EngineResult result = RunTrace(trace, {}, cache, executor, options);
  EXPECT_EQ(result.metrics.total_steps(), 50);
  EXPECT_EQ(result.metrics.all().steps, 15);
  EXPECT_EQ(result.metrics.itl().count(), 12);
}

TEST(EngineTest, StopsWhenToldTo) {
  std::mt19937 random(3);
  const Trace trace = RandomTrace(random, 50, 60, true);
  PagedCache cache(400, 4);
  FixedExecutor executor(kPsPerMs);
  int steps = 0;
  EngineOptions options;
  options.on_step = [&](const EngineProgress&) { return ++steps < 10; };
  EXPECT_TRUE(RunTrace(trace, {}, cache, executor, options).stopped);
  EXPECT_EQ(steps, 10);
}

TEST(EngineTest, RefusesMoreThanAHundredDays) {
  Trace trace;
  trace.requests.push_back(
      {.arrival_ns = 0, .prompt_tokens = 1, .output_tokens = 1000, .prefix_ids = {}});
  PagedCache cache(2048, 16);
  FixedExecutor executor(kMaxClockPs / 500);
  EXPECT_THROW(RunTrace(trace, {}, cache, executor, {}), Error);
}

}  // namespace
}  // namespace kvbench
