#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernels/checks/attention_on_device.h"
#include "kernels/cuda/kernel_entry.h"
#include "kernels/cuda/simulated_device.h"
#include "kernels/simulator/simulator.h"

// What attention kernels ask of memory: the bytes that they must load and no more, in whole
// sectors, and shared memory without bank conflicts.
namespace kvbench {
namespace {

using Decode = DeviceAttentionShape::Decode;
using Kind = AccessLog::Kind;

struct AccessCase {
  Decode decode;
  int32_t block_size;
  int32_t group;
  int32_t head_dim;
  int32_t stages = 2;
};

std::vector<AccessCase> Cases() {
  std::vector<AccessCase> cases;
  for (const int32_t block_size : {0, 1, 16}) {
    for (const int32_t head_dim : {64, 128, 256}) {
      if (block_size == 1 && head_dim != 128) continue;
      for (const int32_t group : {1, 2, 8}) {
        cases.push_back({Decode::kCores, block_size, group, head_dim});
      }
      for (const int32_t group : {8, 32}) {
        cases.push_back({Decode::kMma, block_size, group, head_dim});
      }
    }
    cases.push_back({Decode::kCores, block_size, 1, 128, 3});
    cases.push_back({Decode::kCores, block_size, 1, 128, 4});
  }
  return cases;
}

class DeviceAttentionAccess : public ::testing::Test {
 protected:
  /// Runs decodes with some odd contexts, cut into parts, and logs what they access.
  void Run(const AccessCase& c) {
    AttentionCaseSpec spec;
    spec.block_size = c.block_size;
    spec.group = c.group;
    spec.head_dim = c.head_dim;
    spec.num_kv_heads = 2;
    spec.sequences = {{.context = 130, .num_queries = 1}, {.context = 41, .num_queries = 1}};
    std::mt19937_64 random(3);
    const AttentionCase attention_case(spec, normals_, random);
    log_.Clear();
    SimulatedDevice device({.log = &log_});
    AttentionOnDevice on_device(device, attention_case);
    on_device.Run(c.decode, 64, c.stages);
    kernel_ = on_device.decode_kernel() + ", block size " + std::to_string(c.block_size) +
              ", group " + std::to_string(c.group);
    needed_ = AttentionKvBytes(attention_case.call());
    const auto bytes = static_cast<size_t>(on_device.pool_bytes());
    loaded_ = log_.BytesIn(Kind::kGlobalLoad, on_device.k(), bytes) +
              log_.BytesIn(Kind::kGlobalLoad, on_device.v(), bytes);
  }

  NormalTable normals_;
  AccessLog log_;
  std::string kernel_;
  int64_t needed_ = 0;
  int64_t loaded_ = 0;
};

TEST_F(DeviceAttentionAccess, LoadsEachKeyAndValueOnceCoalescedAndWithoutBankConflicts) {
  std::set<std::string> seen;
  for (const AccessCase& c : Cases()) {
    Run(c);
    EXPECT_GT(needed_, 0);
    EXPECT_EQ(loaded_, needed_) << kernel_;
    for (const AccessLog::Place& place : log_.places()) {
      const bool copies =
          place.site.starts_with("kernels/cuda/kv_tiles.h") && place.kind == Kind::kGlobalLoad;
      const bool shared = place.kind == Kind::kSharedLoad || place.kind == Kind::kSharedStore;
      if (!copies && !shared) continue;
      seen.insert(place.site);
      EXPECT_EQ(place.wasted(), 0)
          << kernel_ << ": " << place.site << " takes " << place.units << " "
          << (shared ? "passes" : "sectors") << " instead of " << place.ideal_units;
    }
  }
  EXPECT_GE(seen.size(), 10u) << "the places of the main loops were not seen";
}

// A place that does waste is found: two planted ones.
struct Strided {
  using Params = Global<const float>;
  static void Run(const Params& from) {
    const float value = Load(from + 16 * ThreadId());
    Store(DynamicShared<float>(0) + 8 * ThreadId(), value);
  }
};

TEST_F(DeviceAttentionAccess, FindsStrides) {
  GlobalMemory memory;
  auto* numbers = static_cast<float*>(memory.Allocate(4 * 512, "numbers"));
  Simulator simulator(memory);
  const Global<const float> params = {numbers};
  simulator.Launch(&KernelEntry<Strided>, &params, {1, 1, 1}, 32, 1024, {.log = &log_});
  const std::vector<AccessLog::Place> places = log_.places();
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].units, 32);  // a sector for each lane
  EXPECT_EQ(places[0].ideal_units, 4);
  EXPECT_EQ(places[1].units, 8);  // four banks for 32 words
  EXPECT_EQ(places[1].ideal_units, 1);
}

}  // namespace
}  // namespace kvbench
