#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "bench/gpu/conformance.h"
#include "kernels/checks/forwarding_device.h"
#include "kernels/checks/kernel_check.h"
#include "kernels/cuda/all_kernels.h"
#include "kernels/cuda/device_vllm_v1.h"
#include "kernels/cuda/simulated_device.h"

// Conformance of kernels itself: that it is complete, and that it sees what is wrong.
namespace kvbench::gpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ConformanceResult RunChecks(const std::vector<KernelCheck>& checks, const KernelTable& table = {},
                            double budget_s = 0) {
  SimulatedDevice device;
  double now = 0;
  TimeBudget budget(budget_s, [&] { return now += 1; });
  return RunConformance(device, table, checks, budget, [](const ConformanceResult&) {});
}

std::vector<KernelCheck> Surrounding() {
  std::vector<KernelCheck> checks = MemoryChecks();
  const std::vector<KernelCheck> more = ElementwiseChecks();
  checks.insert(checks.end(), more.begin(), more.end());
  return checks;
}

/// Launches do nothing and leave outputs as they were: no check may call that right.
class IdleDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;

  void* Allocate(size_t bytes, const char* name) override {
    void* const memory = ForwardingDevice::Allocate(bytes, name);
    Fill(memory, 0, bytes);
    return memory;
  }
  void Launch(const Kernel& /*kernel*/, const LaunchShape& /*shape*/,
              const void* /*params*/) override {}
};

TEST(KernelChecks, WhatSurroundsAttentionIsRight) {
  const ConformanceResult result = RunChecks(Surrounding());
  EXPECT_EQ(result.checks, result.planned);
  EXPECT_THAT(result.failures, IsEmpty());
  EXPECT_TRUE(result.right());
}

TEST(KernelChecks, EachSeesAWrongKernel) {
  std::vector<KernelCheck> checks = Surrounding();
  const std::vector<KernelCheck> attention = AttentionChecks({.combinations = false});
  checks.insert(checks.end(), attention.begin(), attention.end());
  for (const KernelCheck& check : checks) {
    SimulatedDevice simulator;
    IdleDevice device(simulator);
    const double error = check.error(device);
    EXPECT_FALSE(error <= check.tolerance) << check.what << ": " << error;
  }
}

TEST(KernelChecks, VllmV1RefusesWhatItHasNoRoomFor) {
  SimulatedDevice device;
  DeviceVllmV1 attention(device, {.num_heads = 1, .num_kv_heads = 1, .head_dim = 64, .layout = {}});
  for (const AttentionSequence& sequence :
       {AttentionSequence{.num_queries = 2, .context = 5},
        AttentionSequence{.num_queries = 1, .context = DeviceVllmV1::kMaxContext + 1}}) {
    EXPECT_THROW(attention.Plan(std::span(&sequence, 1)), std::invalid_argument);
  }
  EXPECT_THROW(
      DeviceVllmV1(device, {.num_heads = 1, .num_kv_heads = 1, .head_dim = 96, .layout = {}}),
      std::logic_error);
}

TEST(KernelChecks, NanIsWrongAndAFaultEndsTheRun) {
  const KernelCheck nan = {"not a number", 1,
                           [](Device&) { return std::numeric_limits<double>::quiet_NaN(); }};
  const KernelCheck fault = {"a fault", 1, [](Device&) -> double {
                               throw std::runtime_error("an illegal memory access");
                             }};
  const KernelCheck right = {"right", 1, [](Device&) { return 0.5; }};
  const ConformanceResult result = RunChecks({right, nan, fault, right});
  EXPECT_EQ(result.checks, 3);
  EXPECT_EQ(result.planned, 4);
  EXPECT_THAT(result.failures, ElementsAre(HasSubstr("error nan, at most 1"),
                                           HasSubstr("an illegal memory access (a fault)")));
}

TEST(KernelChecks, KernelsThatNothingLaunchesAreNamed) {
  const ConformanceResult result = RunChecks(MemoryChecks(), SimulatorKernels());
  EXPECT_THAT(result.failures, IsEmpty());
  EXPECT_THAT(result.unchecked, testing::Contains("rope"));
  EXPECT_THAT(result.unchecked, testing::Not(testing::Contains("block_copy")));
  EXPECT_FALSE(result.right());
}

TEST(KernelChecks, ABudgetCutsBetweenChecks) {
  // The clock gains a second at each look; a check takes one.
  const ConformanceResult result = RunChecks(MemoryChecks(), SimulatorKernels(), 4);
  EXPECT_GT(result.checks, 0);
  EXPECT_LT(result.checks, result.planned);
  EXPECT_THAT(result.unchecked, IsEmpty());
}

}  // namespace
}  // namespace kvbench::gpu
