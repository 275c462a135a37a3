// What the quick suite must show, apart from times: with all requests at once, admissions, usage
// and preemptions do not depend on how long a step takes, so an executor of constant steps shows
// them exactly.
#include <gtest/gtest.h>

#include "bench/engine/engine.h"
#include "bench/run/run_plan.h"
#include "bench/run/run_spec.h"
#include "tests/bench/engine/fixed_executor.h"

namespace kvbench {
namespace {

struct Shown {
  double waste_of_allocated = 0;
  double running_while_waiting = 0;
  int64_t preemptions = 0;
  int64_t finished = 0;
};

Shown RunOf(const std::string& model, const std::string& design, const std::string& block_size) {
  AxisValues axes = LoadSuite("quick").axes;
  axes["model"] = {model};
  axes["design"] = {design};
  axes["block-size"] = {block_size};
  const std::vector<PlannedRun> runs = PlanRuns(ExpandRuns(axes));
  EXPECT_EQ(runs.size(), 1U);
  const std::unique_ptr<KvCache> cache = MakeCache(runs[0]);
  FixedExecutor executor(1'000'000'000);
  const EngineResult result =
      RunEngine(*runs[0].trace->Open(), runs[0].spec.limits, *cache, executor, {});
  const UsageSums& sums = result.metrics.usage_per_step();
  const StepSums& waiting = result.metrics.while_waiting();
  const auto live = static_cast<double>(sums.live);
  const auto allocated =
      static_cast<double>(sums.live + sums.reserved + sums.overestimate + sums.rounding);
  return {.waste_of_allocated = 1 - live / allocated,
          .running_while_waiting =
              static_cast<double>(waiting.running) / static_cast<double>(waiting.steps),
          .preemptions = result.metrics.preemptions(),
          .finished = result.metrics.finished()};
}

TEST(QuickSuiteTest, ContiguousMaxWastesMostAndPagedLittle) {
  const Shown contiguous = RunOf("twin-mha", "contiguous-max", "16");
  const Shown paged = RunOf("twin-mha", "paged", "16");
  const Shown fine = RunOf("twin-mha", "paged", "4");
  EXPECT_GE(contiguous.waste_of_allocated, 0.60);
  EXPECT_LT(paged.waste_of_allocated, 0.08);
  EXPECT_LT(fine.waste_of_allocated, 0.03);
  EXPECT_GE(paged.running_while_waiting, 2.5 * contiguous.running_while_waiting);
  EXPECT_DOUBLE_EQ(contiguous.running_while_waiting, 7);  // floor(3,936 / 512)
  EXPECT_GT(paged.preemptions, 0);
  EXPECT_EQ(contiguous.preemptions, 0);
  for (const Shown& shown : {contiguous, paged, fine}) {
    EXPECT_EQ(shown.finished, 100);
  }
}

TEST(QuickSuiteTest, RepeatsExactly) {
  const Shown a = RunOf("twin-gqa", "paged", "16");
  const Shown b = RunOf("twin-gqa", "paged", "16");
  EXPECT_EQ(a.waste_of_allocated, b.waste_of_allocated);
  EXPECT_EQ(a.preemptions, b.preemptions);
}

}  // namespace
}  // namespace kvbench
