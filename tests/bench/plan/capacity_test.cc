#include "bench/plan/capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/designs/design_registry.h"
#include "tests/workloads/testing.h"

namespace kvbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// OPT-13B with exactly the 983 blocks of the vLLM paper.
MemoryPlanInput Opt() {
  return {.model = LoadModel("opt-13b"),
          .hardware = LoadHardware("a100-sxm4-40gb"),
          .memory_bytes = 42'298'834'944};
}

int64_t Requests(const std::vector<DesignCapacity>& capacities, std::string_view design) {
  for (const DesignCapacity& capacity : capacities) {
    if (capacity.design == design) {
      return capacity.requests;
    }
  }
  ADD_FAILURE() << design;
  return -1;
}

TEST(RequestsAtOnceTest, CountsByAdmitting) {
  const MemoryPlanInput input = Opt();
  const MemoryPlan plan = PlanMemory(input);
  ASSERT_EQ(plan.blocks, 983);
  // 1,000 tokens of prompt and 24 of output: 63 blocks whose last is full; a chunk of 1,024 slots
  // for pow2 (1,000 + 32 needs 2,048) and oracle.
  const std::vector<DesignCapacity> capacities = RequestsAtOnce(input, plan, {1024, 24});
  ASSERT_EQ(capacities.size(), Designs().size() - 2)
      << "all but contiguous-growing, which moves, and none, which holds no cache";
  EXPECT_EQ(Requests(capacities, "contiguous-max"), 7) << "floor(15,728 / 2,048), paper figure 13";
  EXPECT_EQ(Requests(capacities, "contiguous-pow2"), 7);
  EXPECT_EQ(Requests(capacities, "contiguous-oracle"), 15);
  EXPECT_EQ(Requests(capacities, "paged"), (983 - 9) / 64) << "9 blocks are the watermark";
  EXPECT_EQ(capacities[0].held_slots, 2048);
  EXPECT_EQ(capacities[2].held_slots, 1024);
  EXPECT_FALSE(capacities[0].more);
}

TEST(RequestsAtOnceTest, StopsAtTheLimit) {
  const MemoryPlanInput input = Opt();
  for (const DesignCapacity& capacity : RequestsAtOnce(input, PlanMemory(input), {64, 32}, 5)) {
    EXPECT_EQ(capacity.requests, 5) << capacity.design;
    EXPECT_TRUE(capacity.more) << capacity.design;
  }
}

TEST(RequestsAtOnceTest, NothingWhereTheModelDoesNotFit) {
  MemoryPlanInput input = Opt();
  input.memory_bytes = int64_t{1} << 30;
  for (const DesignCapacity& capacity : RequestsAtOnce(input, PlanMemory(input), {64, 32})) {
    EXPECT_EQ(capacity.requests, 0) << capacity.design;
  }
}

// A short request fills no window, a long one pays for the window alone: contiguous-max reserves
// max_model_len slots, which cost a window and not 32,768 tokens.
TEST(RequestsAtOnceTest, WindowLayersAreChargedWhatEachDesignHolds) {
  const MemoryPlanInput input = {.model = LoadModel("mistral-7b-v0.1"),
                                 .hardware = LoadHardware("a100-sxm4-80gb")};
  const MemoryPlan plan = PlanMemory(input);
  const int64_t window = 4096LL * 131'072;
  const std::vector<DesignCapacity> capacities = RequestsAtOnce(input, plan, {1024, 512});
  EXPECT_EQ(Requests(capacities, "contiguous-max"), plan.kv_bytes / window);
  EXPECT_EQ(Requests(capacities, "contiguous-oracle"), plan.kv_bytes / (window / 4));
  EXPECT_LT(Requests(capacities, "paged"), plan.kv_bytes / (window / 4)) << "the watermark";
  EXPECT_GT(Requests(capacities, "paged"), plan.kv_bytes / (window / 4) * 98 / 100);
}

BatchFit Fit(const MemoryPlanInput& input, const RequestKind& kind, int64_t batch) {
  const MemoryPlan plan = PlanMemory(input);
  return FitBatch(input, plan, kind, batch, RequestsAtOnce(input, plan, kind));
}

TEST(FitBatchTest, SaysByHowMuchAndWhatWouldFit) {
  const MemoryPlanInput input = Opt();
  const MemoryPlan plan = PlanMemory(input);
  const BatchFit fit = Fit(input, {2048, 1024}, 10);
  EXPECT_EQ(fit.kv_bytes, 10LL * 2048 * 819'200);
  EXPECT_EQ(fit.short_by_bytes, fit.kv_bytes - plan.kv_bytes);
  EXPECT_FALSE(fit.fits());
  ASSERT_TRUE(fit.what_fits.batch.has_value());
  EXPECT_EQ(*fit.what_fits.batch, 7);
  EXPECT_EQ(fit.what_fits.kv_cache_dtype, Dtype::kFp8);
  EXPECT_EQ(fit.what_fits.tensor_parallel, 2);
  // Each answer holds when it is planned, and the next larger context does not.
  ASSERT_TRUE(fit.what_fits.context.has_value());
  const int64_t context = *fit.what_fits.context;
  EXPECT_TRUE(Fit(input, {context, 1024}, 10).fits());
  EXPECT_FALSE(Fit(input, {context + 1, 1024}, 10).fits());
  MemoryPlanInput changed = input;
  changed.kv_cache_dtype = Dtype::kFp8;
  EXPECT_TRUE(Fit(changed, {2048, 1024}, 10).fits());
  changed = input;
  changed.tensor_parallel = 2;
  EXPECT_TRUE(Fit(changed, {2048, 1024}, 10).fits());
}

TEST(FitBatchTest, SomeDesignsHoldMore) {
  const BatchFit fit = Fit(Opt(), {1024, 24}, 12);
  EXPECT_EQ(fit.short_by_bytes, 0);
  EXPECT_THAT(fit.designs, ElementsAre("contiguous-oracle", "paged"));
  EXPECT_FALSE(fit.what_fits.batch.has_value());
}

TEST(FitBatchTest, NothingHelpsWhatIsTooLarge) {
  MemoryPlanInput input = Opt();
  input.memory_bytes = 1 << 20;
  const BatchFit fit = Fit(input, {2048, 1024}, 1);
  EXPECT_FALSE(fit.fits());
  EXPECT_EQ(fit.short_by_bytes, fit.device_kv_bytes - PlanMemory(input).kv_bytes);
  EXPECT_FALSE(fit.what_fits.context || fit.what_fits.batch || fit.what_fits.kv_cache_dtype ||
               fit.what_fits.tensor_parallel);
}

TEST(FitBatchTest, OneMoreDeviceDoesNotDivideTheHeads) {
  MemoryPlanInput input = Opt();  // 40 heads
  input.memory_bytes = int64_t{12} << 30;
  const BatchFit fit = Fit(input, {2048, 1024}, 1);
  EXPECT_EQ(fit.what_fits.tensor_parallel, 4) << "3 devices would do, but 40 heads do not divide";
}

TEST(FitBatchTest, AnAbsurdBatchIsASentence) {
  EXPECT_THAT(SentenceOf([] {
                Fit(Opt(), {2048, 1024}, int64_t{1} << 40);
              }),
              HasSubstr("past 2^62 bytes"));
}

}  // namespace
}  // namespace kvbench
