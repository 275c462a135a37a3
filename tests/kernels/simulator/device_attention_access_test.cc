#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernels/checks/attention_on_device.h"
#include "kernels/simulator/simulated_device.h"

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
  for (const int32_t block_size : {0, 1, 16, 128}) {
    for (const int32_t head_dim : {64, 128, 256}) {
      for (const int32_t group : {1, 2, 4, 8}) {
        cases.push_back({Decode::kCores, block_size, group, head_dim});
      }
      for (const int32_t group : {4, 8, 16, 32}) {
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

TEST_F(DeviceAttentionAccess, LoadsEachKeyAndValueOnce) {
  for (const AccessCase& c : Cases()) {
    Run(c);
    EXPECT_GT(needed_, 0);
    EXPECT_EQ(loaded_, needed_) << kernel_;
  }
}

TEST_F(DeviceAttentionAccess, KvLoadsAreCoalescedAndSharedMemoryHasNoConflicts) {
  std::set<std::string> seen;
  for (const AccessCase& c : Cases()) {
    Run(c);
    for (const AccessLog::Place& place : log_.places()) {
      const bool copies = place.site.starts_with("kernels/cuda/kv_tiles.h") &&
                          place.kind == Kind::kGlobalLoad && place.bytes > 16 * place.requests;
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

}  // namespace
}  // namespace kvbench
