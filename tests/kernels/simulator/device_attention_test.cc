#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "kernels/checks/attention_on_device.h"
#include "kernels/checks/device_attention_cases.h"
#include "kernels/cuda/simulated_device.h"
#include "tests/kernels/simulator/schedules.h"

// Attention kernels on the simulator against the reference. By default a pairwise covering set of
// the axes under eight orders of threads; with KVBENCH_FULL=1 in the environment their whole
// product, each under one random order.
namespace kvbench {
namespace {

using Decode = DeviceAttentionShape::Decode;

const NormalTable& Normals() {
  static const NormalTable table;
  return table;
}

bool Full() {
  const char* const value = std::getenv("KVBENCH_FULL");
  return value != nullptr && std::string(value) == "1";
}

Coverage Covered() { return Full() ? Coverage::kWholeProduct : Coverage::kPairwise; }

/// Runs a case under one order of threads and compares rows with the reference.
void ExpectRight(const DeviceAttentionCase& c, const SimulatorOptions& options, uint64_t seed) {
  std::mt19937_64 random(seed);
  const AttentionCase attention_case(c.spec, Normals(), random);
  SimulatedDevice device(options);
  AttentionOnDevice on_device(device, attention_case);
  try {
    on_device.Run(c.decode, c.cta_budget, c.cores_stages);
  } catch (const SimulatorFault& fault) {
    FAIL() << on_device.decode_kernel() << ": " << c.spec.ToString() << ": " << fault.what();
  }
  const double error = attention_case.LargestError(48, random);
  EXPECT_LE(error, DeviceTolerance(c.spec.kv_type))
      << on_device.decode_kernel() << ": " << c.spec.ToString() << ", seed " << seed;
  EXPECT_TRUE(attention_case.GuardsIntact());
}

std::vector<SimulatorOptions> OneRandomOrder(uint64_t number) {
  return {{.schedule = Schedule::kRandom, .seed = number}};
}

/// @param number of the first case: seeds its numbers
void RunCases(const std::vector<DeviceAttentionCase>& cases, uint64_t number) {
  for (const DeviceAttentionCase& c : cases) {
    ++number;
    for (const SimulatorOptions& options : Full() ? OneRandomOrder(number) : Schedules()) {
      ExpectRight(c, options, number);
    }
  }
}

TEST(DeviceAttention, DecodeWithoutTensorCores) {
  RunCases(DecodeCases(Decode::kCores, Covered()), 0);
}

TEST(DeviceAttention, DecodeByTensorCores) { RunCases(DecodeCases(Decode::kMma, Covered()), 0); }

TEST(DeviceAttention, DeeperRings) { RunCases(DeeperRingCases(), 100); }

TEST(DeviceAttention, Prompts) { RunCases(PromptCases(Covered()), 200); }

TEST(DeviceAttention, OddGroups) {
  uint64_t number = 300;
  for (const DeviceAttentionCase& c : OddGroupCases()) {
    ++number;
    ExpectRight(c, OneRandomOrder(number)[0], number);
  }
}

}  // namespace
}  // namespace kvbench
