#include "results/record/label.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/results/example_results.h"

namespace kvbench {
namespace {

TEST(Label, NamesAllAxesInAFixedOrder) {
  EXPECT_EQ(MakeLabel(ExampleRun("paged")),
            "model=twin-mha design=paged block-size=16 kv-cache-dtype=float16 dtype=float32 "
            "kv-memory=32243712B max-model-len=512 max-num-seqs=256 max-num-batched-tokens=2048 "
            "scheduler=continuous chunked-prefill=on preemption=recompute watermark=0.01 "
            "max-concurrency=none executor=cpu hardware=none calibration=none "
            "tensor-parallel-size=none threads=2 dense=on trace=quick/9f86d081884c rate=inf seed=1 "
            "window=all");
}

TEST(Label, AModelledRunNamesItsHardware) {
  RunRecord run = ExampleRun("contiguous-max");
  run.executor = {"modelled", "a100 40gb", std::nullopt, 1, true, std::nullopt,
                  "roofline", 1,           std::nullopt};
  run.limits.max_concurrency = 8;
  run.trace.request_rate = 0.1;
  run.trace.seed.reset();
  run.window.from_s = 300;
  run.window.to_s = 900;
  const std::string label = MakeLabel(run);
  for (const char* part : {"block-size=none", "executor=modelled", "hardware=a100_40gb",
                           "calibration=roofline", "tensor-parallel-size=1", "threads=none",
                           "max-concurrency=8", "rate=0.1 ", "seed=none", "window=300..900s"}) {
    EXPECT_NE(label.find(part), std::string::npos) << part << " is not in " << label;
  }
}

TEST(Label, DoesNotDependOnWhatTheRunProducedOrWhereItRan) {
  RunRecord run = ExampleRun("paged");
  const std::string label = MakeLabel(run);
  run.executor.hardware = "another CPU";
  run.repetition = 3;
  run.completed = 1;
  run.design.capacity_bytes -= 4096;
  run.design.lost_bytes += 4096;
  EXPECT_EQ(MakeLabel(run), label);
}

TEST(Label, ChangesWithEveryAxis) {
  using Change = void (*)(RunRecord&);
  const std::vector<Change> changes = {
      [](RunRecord& run) { run.model.name = "other"; },
      [](RunRecord& run) { run.design.name = "other"; },
      [](RunRecord& run) { run.design.block_size = 8; },
      [](RunRecord& run) { run.model.kv_cache_dtype = "float32"; },
      [](RunRecord& run) { run.model.dtype = "float16"; },
      [](RunRecord& run) { run.design.lost_bytes += 1; },
      [](RunRecord& run) { run.limits.max_model_len = 513; },
      [](RunRecord& run) { run.limits.max_num_seqs = 1; },
      [](RunRecord& run) { run.limits.max_num_batched_tokens = 1; },
      [](RunRecord& run) { run.limits.scheduler = "static"; },
      [](RunRecord& run) { run.limits.chunked_prefill = false; },
      [](RunRecord& run) { run.limits.preemption = "swap"; },
      [](RunRecord& run) { run.limits.watermark = 0; },
      [](RunRecord& run) { run.limits.max_concurrency = 4; },
      [](RunRecord& run) { run.executor.kind = "cuda"; },
      [](RunRecord& run) { run.executor.threads = 1; },
      [](RunRecord& run) { run.executor.dense = false; },
      [](RunRecord& run) { run.trace.name = "other"; },
      [](RunRecord& run) { run.trace.sha256[0] = '0'; },
      [](RunRecord& run) { run.trace.request_rate = 2; },
      [](RunRecord& run) { run.trace.seed = 2; },
      [](RunRecord& run) { run.window.from_s = 1; },
  };
  std::set<std::string> labels = {MakeLabel(ExampleRun("paged"))};
  for (const Change change : changes) {
    RunRecord run = ExampleRun("paged");
    change(run);
    labels.insert(MakeLabel(run));
  }
  EXPECT_EQ(labels.size(), changes.size() + 1);
}

TEST(Label, PartsAreWhole) {
  const std::string label = "model=a design=paged-x block-size=16";
  EXPECT_TRUE(HasParts(label, {}));
  EXPECT_TRUE(HasParts(label, {"block-size=16", "model=a"}));
  EXPECT_TRUE(HasParts(label, {"design=paged-x block-size=16"}));
  EXPECT_FALSE(HasParts(label, {"design=paged"}));
  EXPECT_FALSE(HasParts(label, {"model=a", "size=16"}));
}

}  // namespace
}  // namespace kvbench
