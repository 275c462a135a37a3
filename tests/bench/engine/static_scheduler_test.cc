#include "bench/engine/static_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "bench/designs/design_registry.h"
#include "bench/engine/engine.h"
#include "tests/bench/engine/fixed_executor.h"

namespace kvbench {
namespace {

constexpr int64_t kPsPerMillisecond = 1'000'000'000;
constexpr int64_t kNsPerMs = 1'000'000;

EngineResult RunStatic(const Trace& trace, EngineLimits limits, KvCache& cache, Executor& executor,
                       SchedulerKind kind = SchedulerKind::kStatic) {
  limits.scheduler = kind;
  TraceSource source(trace);
  EngineOptions options;
  options.metrics.keep_requests = true;
  return RunEngine(source, limits, cache, executor, options);
}

std::unique_ptr<KvCache> Make(const char* design, int64_t slots, int64_t max_model_len) {
  return FindDesign(design).make(
      {.slots = slots, .block_size = 16, .max_model_len = max_model_len});
}

/// Three requests of 10 + 3, 4 + 6 and 7 + 1 tokens, at once, in a cache that holds two.
TEST(StaticSchedulerTest, ByHand) {
  Trace trace;
  trace.requests = {{0, 10, 3, {}}, {0, 4, 6, {}}, {0, 7, 1, {}}};
  EngineLimits limits;
  limits.max_model_len = 64;
  const std::unique_ptr<KvCache> cache = Make("contiguous-max", 128, 64);
  FixedExecutor executor(kPsPerMillisecond);
  std::vector<StepLoad> loads;
  executor.observe = [&](const StepBatch& batch, const KvCache&) { loads.push_back(batch.load); };
  const EngineResult result = RunStatic(trace, limits, *cache, executor);
  const Metrics& metrics = result.metrics;
  // Six steps of the first two, padded to a prompt of 10, then one of the third.
  ASSERT_EQ(loads.size(), 7U);
  EXPECT_EQ(loads[0].prefill_tokens, 20);
  EXPECT_EQ(loads[0].prefill_pairs, 2 * 55);
  EXPECT_EQ(loads[3].decodes, 2) << "the first request has ended and is padding";
  EXPECT_EQ(loads[3].decode_context, 2 * 13);
  EXPECT_EQ(loads[6].prefill_tokens, 7);
  std::vector<RequestRow> rows = metrics.rows();
  std::sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.index < b.index; });
  EXPECT_EQ(rows[0].outcome.first_token_ps, kPsPerMillisecond);
  EXPECT_EQ(rows[0].outcome.finished_ps, 6 * kPsPerMillisecond) << "answered with its batch";
  EXPECT_EQ(rows[1].outcome.finished_ps, 6 * kPsPerMillisecond);
  EXPECT_EQ(rows[2].outcome.admitted_ps, 6 * kPsPerMillisecond);
  EXPECT_EQ(rows[2].outcome.finished_ps, 7 * kPsPerMillisecond);
  EXPECT_EQ(metrics.itl().count(), 2 + 5 + 0);
  // TTFT and gaps add up to the latency: 6 + 6 + 7 ms.
  EXPECT_EQ(static_cast<int64_t>(metrics.ttft().sum_ps() + metrics.itl().sum_ps()),
            19 * kPsPerMillisecond);
  EXPECT_EQ(metrics.bound_by()[static_cast<size_t>(HeldBackBy::kMemory)], 6);
}

TEST(StaticSchedulerTest, WithoutPaddingPromptsCountAsTheyAre) {
  Trace trace;
  trace.requests = {{0, 10, 3, {}}, {0, 4, 6, {}}};
  EngineLimits limits;
  limits.max_model_len = 64;
  const std::unique_ptr<KvCache> cache = Make("contiguous-max", 128, 64);
  FixedExecutor executor(kPsPerMillisecond);
  std::vector<StepLoad> loads;
  executor.observe = [&](const StepBatch& batch, const KvCache&) { loads.push_back(batch.load); };
  RunStatic(trace, limits, *cache, executor, SchedulerKind::kFasterTransformer);
  ASSERT_EQ(loads.size(), 6U);
  EXPECT_EQ(loads[0].prefill_tokens, 14);
  EXPECT_EQ(loads[2].decode_context, 12 + 6);
}

TEST(StaticSchedulerTest, ABatchStaysWithinTheModelsLengthAndTheSequenceCap) {
  Trace trace;
  trace.requests = {{0, 60, 4, {}}, {0, 4, 8, {}}, {0, 4, 8, {}}, {0, 4, 8, {}}};
  EngineLimits limits;
  limits.max_model_len = 64;
  limits.max_num_seqs = 2;
  const std::unique_ptr<KvCache> cache = Make("contiguous-max", 1024, 64);
  FixedExecutor executor(kPsPerMillisecond);
  const EngineResult result = RunStatic(trace, limits, *cache, executor);
  // 60 + 8 would pass 64: alone for 4 steps; then two for 8, and the last for 8.
  EXPECT_EQ(result.metrics.total_steps(), 20);
  EXPECT_EQ(result.metrics.peak_running(), 2);
  EXPECT_EQ(result.metrics.bound_by()[static_cast<size_t>(HeldBackBy::kTokens)], 4);
  EXPECT_EQ(result.metrics.bound_by()[static_cast<size_t>(HeldBackBy::kSequences)], 8);
}

TEST(StaticSchedulerTest, EveryDesignServesEveryoneWithoutPreemptionAndUsageAddsUp) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    Trace trace;
    int64_t arrival = 0;
    for (int i = 0; i < 80; ++i) {
      arrival += static_cast<int64_t>(random() % (20 * kNsPerMs));
      trace.requests.push_back({arrival,
                                1 + static_cast<int64_t>(random() % 90),
                                1 + static_cast<int64_t>(random() % 90),
                                {}});
    }
    EngineLimits limits;
    limits.max_model_len = 100 + static_cast<int64_t>(random() % 100);
    limits.max_num_seqs = 1 + static_cast<int64_t>(random() % 30);
    for (const Design& design : Designs()) {
      const std::unique_ptr<KvCache> cache =
          Make(std::string(design.name).c_str(), 300 + static_cast<int64_t>(random() % 2000),
               limits.max_model_len);
      if (cache->acts()) {
        continue;  // planned runs refuse it: what has to move may find no room
      }
      FixedExecutor executor(kPsPerMillisecond);
      const EngineResult result = RunStatic(trace, limits, *cache, executor);
      int64_t rejected = 0;
      for (const auto& [reason, count] : result.metrics.rejected()) {
        rejected += count;
      }
      ASSERT_EQ(result.metrics.finished() + rejected, 80);
      ASSERT_EQ(result.metrics.preemptions(), 0);
      ASSERT_LE(result.metrics.peak_running(), limits.max_num_seqs);
      int64_t outputs = 0;
      for (const RequestRow& row : result.metrics.rows()) {
        if (!row.outcome.rejected) {
          outputs += row.output_tokens;
          ASSERT_GE(row.outcome.finished_ps, row.outcome.first_token_ps);
        }
      }
      ASSERT_EQ(static_cast<int64_t>(result.metrics.all().generated), outputs);
      ASSERT_EQ(result.metrics.itl().count(), outputs - result.metrics.finished());
      for (const TimelineSample& sample : result.metrics.timeline()) {
        ASSERT_EQ(sample.usage.capacity(), cache->capacity_slots());
        ASSERT_GE(sample.usage.free, 0);
      }
    }
  }
}

TEST(NoCacheTest, EveryStepComputesTheWholeContextAgain) {
  Trace trace;
  trace.requests = {{0, 10, 3, {}}, {0, 4, 2, {}}};
  const std::unique_ptr<KvCache> cache = Make("none", 0, 64);
  FixedExecutor executor(kPsPerMillisecond);
  std::vector<int64_t> tokens;
  executor.observe = [&](const StepBatch& batch, const KvCache&) {
    tokens.push_back(batch.tokens());
  };
  TraceSource source(trace);
  const EngineResult result = RunEngine(source, {}, *cache, executor, {});
  EXPECT_EQ(tokens, (std::vector<int64_t>{14, 16, 12}));
  EXPECT_EQ(result.metrics.recomputed_tokens(), 14 + 11);
  EXPECT_EQ(result.metrics.finished(), 2);
}

}  // namespace
}  // namespace kvbench
