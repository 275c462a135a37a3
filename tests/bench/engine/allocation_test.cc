// A program of its own: it counts what goes through operator new.

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "bench/designs/design_registry.h"
#include "bench/engine/engine.h"
#include "bench/executors/cpu_executor.h"
#include "tests/bench/engine/fixed_executor.h"
#include "tests/bench/executors/small_model.h"
#include "workloads/traces/request_source.h"

namespace {

std::atomic<int64_t> allocations{0};

void* Allocate(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) {
    return memory;
  }
  throw std::bad_alloc();
}

void* AllocateAligned(std::size_t bytes, std::align_val_t align) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const auto unit = static_cast<std::size_t>(align);
  if (void* const memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit)) {
    return memory;
  }
  throw std::bad_alloc();
}

}  // namespace

// The other forms of the standard library call these.
void* operator new(std::size_t bytes) { return Allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t align) {
  return AllocateAligned(bytes, align);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace kvbench {
namespace {

constexpr int64_t kOutput = 150;
/// From then on everyone decodes, and each block table has met a new block.
constexpr size_t kSteadyFrom = 40;

/// A batch of requests that all come at once and end together.
Trace FixedBatch(int requests) {
  Trace trace;
  for (int i = 0; i < requests; ++i) {
    trace.requests.push_back({.arrival_ns = 0,
                              .prompt_tokens = 5 + 7 * i % 60,
                              .output_tokens = kOutput,
                              .prefix_ids = {}});
  }
  return trace;
}

/// What lies on the heap, in bytes: sees what does not go through operator new, such as a kernel's
/// scratch.
int64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

struct Step {
  int64_t allocations = 0;  // since the run began
  int64_t heap_bytes = 0;
  int64_t checked = 0;  // outputs that were verified, with the clock stopped
};

/// Runs the batch and returns where the counts stood after each step.
template <typename Checked>
std::vector<Step> RunBatch(const Trace& trace, const EngineLimits& limits, KvCache& cache,
                           Executor& executor, EngineOptions options, const Checked& checked) {
  std::vector<Step> steps;
  steps.reserve(10'000);
  options.metrics.expected_tokens = kOutput * static_cast<int64_t>(trace.requests.size());
  options.on_step = [&](const EngineProgress&) {
    steps.push_back({allocations.load(), HeapBytes(), checked()});
    return true;
  };
  TraceSource source(trace);
  const EngineResult result = RunEngine(source, limits, cache, executor, options);
  EXPECT_EQ(result.metrics.finished(), static_cast<int64_t>(trace.requests.size()));
  return steps;
}

/// No steady step may have allocated, apart from those that were verified and the last, in which
/// the batch ends.
void ExpectNone(const std::vector<Step>& steps) {
  ASSERT_GT(steps.size(), kSteadyFrom + 50);
  for (size_t i = kSteadyFrom; i + 1 < steps.size(); ++i) {
    if (steps[i].checked == steps[i - 1].checked) {
      ASSERT_EQ(steps[i].allocations, steps[i - 1].allocations) << "step " << i;
      ASSERT_EQ(steps[i].heap_bytes, steps[i - 1].heap_bytes) << "step " << i;
    }
  }
}

TEST(AllocationTest, TheCounterCounts) {
  const int64_t before = allocations.load();
  auto number = std::make_unique<std::vector<int>>(100);
  EXPECT_EQ(allocations.load(), before + 2);
  number.reset();
}

TEST(AllocationTest, SchedulerCacheAndMetricsNeedNoneInASteadyStep) {
  for (const Design& design : Designs()) {
    if (!design.holds_cache) {
      continue;
    }
    for (const SchedulerKind scheduler : {SchedulerKind::kContinuous, SchedulerKind::kStatic}) {
      for (const bool step_by_step : {false, true}) {
        for (const bool exact : {false, true}) {
          SCOPED_TRACE(std::string(design.name) + (step_by_step ? ", step by step" : "") +
                       (exact ? ", exact" : ""));
          const EngineLimits limits{.scheduler = scheduler, .max_model_len = 256};
          const std::unique_ptr<KvCache> cache = design.make(
              {.slots = 16'384, .block_size = 16, .max_model_len = limits.max_model_len});
          if (cache->acts() && scheduler != SchedulerKind::kContinuous) {
            continue;
          }
          FixedExecutor executor(1'000'000);
          EngineOptions options;
          options.step_by_step = step_by_step;
          options.metrics.exact_percentiles = exact;
          ExpectNone(RunBatch(FixedBatch(33), limits, *cache, executor, options,
                              [] { return int64_t{0}; }));
        }
      }
    }
  }
}

TEST(AllocationTest, TheCpuExecutorNeedsNoneInASteadyStep) {
  for (const char* design : {"paged", "contiguous-oracle"}) {
    for (const bool dense : {false, true}) {
      for (const int threads : {1, 2}) {
        for (const int requests : {1, 32}) {
          SCOPED_TRACE(std::string(design) + (dense ? ", dense, " : ", ") +
                       std::to_string(threads) + " threads, " + std::to_string(requests));
          MeasuredConfig config;
          config.model = SmallModel();
          config.dense = dense;
          config.limits.max_model_len = 256;
          config.limits.max_num_batched_tokens = 2048;  // all prompts in one step
          const std::unique_ptr<KvCache> cache = FindDesign(design).make(
              {.slots = 16'384, .block_size = 16, .max_model_len = config.limits.max_model_len});
          ThreadPool pool(threads);
          CpuExecutor executor(config, *cache, pool);
          ExpectNone(RunBatch(FixedBatch(requests), config.limits, *cache, executor, {},
                              [&] { return executor.verifier().checked(); }));
        }
      }
    }
  }
}

}  // namespace
}  // namespace kvbench
