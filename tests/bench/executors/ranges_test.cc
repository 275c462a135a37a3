#include "bench/executors/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/designs/design_registry.h"
#include "bench/engine/engine.h"
#include "bench/executors/cpu_executor.h"
#include "bench/executors/nvtx_sink.h"
#include "tests/bench/executors/documented_ranges.h"
#include "tests/bench/executors/small_model.h"
#include "workloads/traces/request_source.h"

namespace kvbench {
namespace {

/// Keeps every range with what it lies in.
class KeepingSink final : public RangeSink {
 public:
  struct Kept {
    std::string name;
    std::string inside;
    RangeArgs args;
  };

  void BeginRun(const std::string& label) override { labels.push_back(label); }
  void Begin(RangeKind kind, const RangeArgs& args) override {
    const std::string name(InfoOf(kind).name);
    kept.push_back({name, open.empty() ? "" : open.back(), args});
    open.push_back(name);
  }
  void End() override {
    ASSERT_FALSE(open.empty());
    open.pop_back();
  }
  std::vector<Kept> Named(const std::string& name) const {
    std::vector<Kept> named;
    for (const Kept& range : kept) {
      if (range.name == name) {
        named.push_back(range);
      }
    }
    return named;
  }

  std::vector<std::string> labels;
  std::vector<Kept> kept;
  std::vector<std::string> open;
};

TEST(RangesTest, AreThoseOfTheDocument) {
  const std::map<std::string, DocumentedRange> documented = DocumentedRanges();
  EXPECT_EQ(documented.size(), kNumRangeKinds);
  for (size_t i = 0; i < kNumRangeKinds; ++i) {
    const RangeInfo& info = RangeInfos()[i];
    EXPECT_EQ(static_cast<size_t>(info.kind), i);
    ASSERT_TRUE(documented.contains(std::string(info.name))) << info.name;
    const DocumentedRange& row = documented.at(std::string(info.name));
    EXPECT_EQ(row.category, info.category) << info.name;
    std::vector<std::string> numbers;
    for (const std::string_view number : info.args) {
      if (!number.empty()) {
        numbers.emplace_back(number);
      }
    }
    EXPECT_EQ(row.numbers, numbers) << info.name;
  }
}

TEST(RangesTest, APhaseIsMixedWhereBothKindsAreInIt) {
  StepLoad load;
  load.AddPart(10, 1, true);
  EXPECT_EQ(PhaseOf(load), RangeKind::kDecode);
  load.AddPart(0, 7, true);
  EXPECT_EQ(PhaseOf(load), RangeKind::kMixed);
  StepLoad prompt;
  prompt.AddPart(0, 7, true);
  EXPECT_EQ(PhaseOf(prompt), RangeKind::kPrefill);
}

TEST(RangesTest, NothingIsRecordedOutsideARun) {
  KeepingSink sink;
  Ranges ranges({&sink}, "label", 3);
  ranges.BeginBookkeeping();
  { const ScopedRange range(&ranges, RangeKind::kLayer, {}); }
  ranges.Pop();
  EXPECT_TRUE(sink.kept.empty());
  ranges.BeginRun();
  EXPECT_EQ(sink.labels, std::vector<std::string>{"label"});
  ASSERT_EQ(sink.kept.size(), 1U);
  EXPECT_EQ(sink.kept[0].args[0], 3);
  ranges.EndRun();
  ranges.Push(RangeKind::kLayer, {});
  EXPECT_EQ(sink.kept.size(), 1U);
  EXPECT_TRUE(sink.open.empty());
  const ScopedRange nowhere(nullptr, RangeKind::kLayer, {});
}

TEST(RangesTest, WithoutSinksARunIsOff) {
  Ranges ranges;
  ranges.BeginRun();
  EXPECT_FALSE(ranges.on());
  ranges.BeginStep({});
  ranges.Pop();
  ranges.EndRun();
}

TEST(RangesTest, WithoutAToolThereIsNoNvtx) {
  if (std::getenv("NVTX_INJECTION64_PATH") != nullptr) {
    GTEST_SKIP() << "an NVTX tool is attached to the tests";
  }
  EXPECT_EQ(MakeNvtxSink(), nullptr);
}

struct Served {
  KeepingSink sink;
  int64_t steps = 0;
};

/// Prompts of several steps and decodes, some of them together.
void Serve(const char* design, bool dense, const EngineOptions& options, Served& served) {
  MeasuredConfig config;
  config.model = SmallModel();
  config.dense = dense;
  config.limits.max_model_len = 128;
  config.limits.max_num_batched_tokens = 40;
  config.ranges = Ranges({&served.sink}, "served", 0);
  const std::unique_ptr<KvCache> cache =
      FindDesign(design).make({.slots = 1024, .block_size = 16, .max_model_len = 128});
  ThreadPool pool(2);
  CpuExecutor executor(config, *cache, pool);
  EXPECT_TRUE(served.sink.kept.empty()) << "the warm-up is not part of a run";
  Trace trace;
  for (int i = 0; i < 4; ++i) {
    trace.requests.push_back(
        {.arrival_ns = 0, .prompt_tokens = 30 + i, .output_tokens = 5, .prefix_ids = {}});
  }
  TraceSource source(trace);
  const EngineResult result = RunEngine(source, config.limits, *cache, executor, options);
  served.steps = result.metrics.total_steps();
}

TEST(RangesTest, ARunOfTheCpuExecutorIsNestedAsDocumented) {
  const std::map<std::string, DocumentedRange> documented = DocumentedRanges();
  for (const char* design : {"paged", "contiguous-max"}) {
    for (const bool dense : {true, false}) {
      SCOPED_TRACE(std::string(design) + (dense ? ", dense" : ""));
      Served served;
      Serve(design, dense, {}, served);
      const KeepingSink& sink = served.sink;
      EXPECT_TRUE(sink.open.empty());
      for (const KeepingSink::Kept& range : sink.kept) {
        EXPECT_TRUE(documented.at(range.name).MayLieIn(range.inside))
            << range.name << " in " << range.inside;
      }
      const auto steps = static_cast<size_t>(served.steps);
      const size_t layers = steps * static_cast<size_t>(SmallModel().num_hidden_layers);
      EXPECT_EQ(sink.Named("run").size(), 1U);
      EXPECT_EQ(sink.Named("step").size(), steps);
      EXPECT_EQ(sink.Named("bookkeeping").size(), steps + 1);
      EXPECT_EQ(sink.Named("plan").size(), steps);
      EXPECT_EQ(sink.Named("layer").size(), layers);
      EXPECT_EQ(sink.Named("cache_write").size(), layers);
      EXPECT_EQ(sink.Named("attention").size(), layers);
      EXPECT_GT(sink.Named("verify").size(), 0U);
      EXPECT_EQ(
          sink.Named("prefill").size() + sink.Named("decode").size() + sink.Named("mixed").size(),
          steps);
      EXPECT_GT(sink.Named("prefill").size(), 0U);
      EXPECT_GT(sink.Named("mixed").size(), 0U);
      EXPECT_GT(sink.Named("decode").size(), 0U);
      if (!dense) {
        EXPECT_TRUE(sink.Named("dense").empty());
        continue;
      }
      size_t heads = 0;
      for (const KeepingSink::Kept& range : sink.Named("dense")) {
        heads += range.inside == "layer" ? 0 : 1;
      }
      EXPECT_EQ(sink.Named("dense").size(), 4 * layers + heads);
      EXPECT_GT(heads, 0U);
    }
  }
}

TEST(RangesTest, NumbersAreThoseOfTheStep) {
  Served served;
  Serve("paged", true, {}, served);
  // 40 tokens: the prompt of 30 and the first 10 tokens of the next one, of 31.
  const KeepingSink::Kept step = served.sink.Named("step").front();
  EXPECT_EQ(step.args, (RangeArgs{2, 0, 0}));
  const KeepingSink::Kept phase = served.sink.Named("prefill").front();
  EXPECT_EQ(phase.args, (RangeArgs{40, 2, 3})) << "two blocks and one";
  EXPECT_EQ(served.sink.Named("attention").front().args, (RangeArgs{3, 40, 2}));
  EXPECT_EQ(served.sink.Named("cache_write").front().args[0], 40);
  EXPECT_EQ(served.sink.Named("layer")[1].args[0], 1);
  Served contiguous;
  Serve("contiguous-max", true, {}, contiguous);
  EXPECT_EQ(contiguous.sink.Named("prefill").front().args, (RangeArgs{40, 2, 0}));
}

TEST(RangesTest, ARunThatIsStoppedOrFailsEndsItsRanges) {
  EngineOptions options;
  int64_t steps = 0;
  options.on_step = [&](const EngineProgress&) { return ++steps < 3; };
  Served stopped;
  Serve("paged", true, options, stopped);
  EXPECT_EQ(stopped.sink.Named("step").size(), 3U);
  EXPECT_TRUE(stopped.sink.open.empty());
  options.on_step = [](const EngineProgress&) -> bool { throw std::runtime_error("stop"); };
  Served failed;
  EXPECT_THROW(Serve("paged", true, options, failed), std::runtime_error);
  EXPECT_EQ(failed.sink.Named("step").size(), 1U);
  EXPECT_TRUE(failed.sink.open.empty());
}

}  // namespace
}  // namespace kvbench
