#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "kernels/checks/attention_on_device.h"
#include "kernels/cuda/kernel_names.h"
#include "kernels/cuda/simulated_device.h"
#include "kernels/float16.h"
#include "kernels/kv_layout.h"
#include "kernels/reference/attention.h"
#include "tests/kernels/simulator/schedules.h"

// Attention kernels where it gets narrow: pools beyond 2 and 4 GiB, nothing to attend to, parts of
// which a query sees no key.
namespace kvbench {
namespace {

using Decode = DeviceAttentionShape::Decode;

void FillNormal(std::vector<float>& values, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  for (float& value : values) value = normal(random);
}

double RowError(const std::vector<double>& expected, const float* actual) {
  double difference = 0;
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference = std::fmax(difference, std::abs(expected[i] - static_cast<double>(actual[i])));
    largest = std::fmax(largest, std::abs(expected[i]));
  }
  return difference / largest;
}

TEST(DeviceAttentionEdges, BlocksBeyondTwoAndFourGiB) {
  constexpr int32_t kBlockSize = 16;
  constexpr int32_t kHeadDim = 128;
  constexpr int32_t kGroup = 4;
  const KvLayout layout = PagedLayout(kBlockSize, 1, kHeadDim);
  const int64_t block_bytes = layout.block_stride * 2;
  // Byte offsets just past 2^31 and 2^32, and element offsets just past 2^31.
  const std::vector<int32_t> blocks = {static_cast<int32_t>((int64_t{1} << 31) / block_bytes + 1),
                                       static_cast<int32_t>((int64_t{1} << 32) / block_bytes + 3),
                                       0};
  const auto pool_blocks = static_cast<int64_t>(blocks[1]) + 1;
  std::mt19937_64 random(5);
  SimulatedDevice device({.schedule = Schedule::kRandom, .seed = 5}, int64_t{1} << 40);
  // Memory that nobody touches costs nothing.
  const DeviceArray<uint16_t> k(device, pool_blocks * layout.block_stride, "K pool");
  const DeviceArray<uint16_t> v(device, pool_blocks * layout.block_stride, "V pool");
  std::vector<float> numbers(static_cast<size_t>(layout.block_stride));
  for (const DeviceArray<uint16_t>* pool : {&k, &v}) {
    for (const int32_t block : blocks) {
      FillNormal(numbers, random);
      std::vector<uint16_t> halves;
      for (const float number : numbers) halves.push_back(FloatToFp16(number));
      device.CopyToDevice(pool->data() + block * layout.block_stride, halves.data(),
                          halves.size() * 2);
    }
  }
  std::vector<float> q(kGroup * kHeadDim);
  FillNormal(q, random);
  std::vector<float> out(q.size());
  AttentionSequence sequence;
  sequence.num_queries = 1;
  sequence.context = 2 * kBlockSize + 5;
  sequence.blocks = blocks.data();
  AttentionCall call;
  call.num_heads = kGroup;
  call.num_kv_heads = 1;
  call.head_dim = kHeadDim;
  call.scale = 1 / std::sqrt(static_cast<float>(kHeadDim));
  call.q = q.data();
  call.k = k.data();  // the simulator's memory is this process's
  call.v = v.data();
  call.layout = layout;
  call.sequences = {&sequence, 1};
  for (const Decode decode : {Decode::kCores, Decode::kMma}) {
    DeviceArray<float> q_on_device(device, static_cast<int64_t>(q.size()), "q");
    const DeviceArray<float> out_on_device(device, static_cast<int64_t>(q.size()), "out");
    q_on_device.Upload(q);
    DeviceAttention attention(device, {.num_heads = kGroup,
                                       .num_kv_heads = 1,
                                       .head_dim = kHeadDim,
                                       .scale = call.scale,
                                       .layout = layout,
                                       .decode = decode});
    attention.Plan(call.sequences);
    attention.Run(q_on_device.data(), 0, out_on_device.data(), k.data(), v.data());
    out_on_device.Download(out);
    for (int32_t head = 0; head < kGroup; ++head) {
      std::vector<double> expected(kHeadDim);
      ReferenceAttentionRow(call, 0, 0, head, expected.data());
      EXPECT_LE(RowError(expected, out.data() + head * kHeadDim), 2e-3)
          << attention.decode_kernel() << ", head " << head;
    }
  }
}

TEST(DeviceAttentionEdges, NothingToAttendTo) {
  for (const Decode decode : {Decode::kCores, Decode::kMma}) {
    for (const int32_t block_size : {0, 16}) {
      SimulatedDevice device;
      const KvLayout layout =
          block_size > 0 ? PagedLayout(block_size, 1, 64) : ContiguousLayout(1, 64);
      const DeviceArray<uint16_t> pool(device, 64 * 16, "pool");
      DeviceArray<float> q(device, 64, "q");
      q.Upload(std::vector<float>(64, 1.0F));
      const DeviceArray<float> out(device, 64, "out");
      DeviceAttention attention(device, {.num_heads = 1,
                                         .num_kv_heads = 1,
                                         .head_dim = 64,
                                         .scale = 1,
                                         .layout = layout,
                                         .decode = decode});
      AttentionSequence empty;
      empty.num_queries = 1;
      attention.Plan({&empty, 1});
      attention.Run(q.data(), 0, out.data(), pool.data(), pool.data());
      std::vector<float> result(64);
      out.Download(result);
      EXPECT_THAT(result, ::testing::Each(0.0F)) << attention.decode_kernel();
      // And no sequence at all: nothing is launched that could fail.
      attention.Plan({});
      attention.Run(q.data(), 0, out.data(), pool.data(), pool.data());
    }
  }
}

TEST(DeviceAttentionEdges, PartsOfWhichAQuerySeesNoKey) {
  const NormalTable normals;
  for (const SimulatorOptions& options : Schedules()) {
    // Queries at positions 24 to 63; the part of keys 48 to 63 is behind most of them.
    AttentionCaseSpec spec;
    spec.block_size = 8;
    spec.head_dim = 64;
    spec.sequences = {{.context = 64, .num_queries = 40}};
    std::mt19937_64 random(11);
    const AttentionCase attention_case(spec, normals, random);
    const AttentionCall& call = attention_case.call();
    SimulatedDevice device(options);
    const AttentionSequence& sequence = call.sequences[0];
    DeviceArray<uint16_t> k(device, attention_case.pool_bytes() / 2, "K pool");
    DeviceArray<uint16_t> v(device, k.count(), "V pool");
    k.Upload({static_cast<const uint16_t*>(call.k), static_cast<size_t>(k.count())});
    v.Upload({static_cast<const uint16_t*>(call.v), static_cast<size_t>(v.count())});
    DeviceArray<float> q(device, attention_case.q_floats(), "q");
    q.Upload({call.q, static_cast<size_t>(q.count())});
    DeviceArray<int32_t> blocks(device, 8, "blocks");
    blocks.Upload({sequence.blocks, 8});
    const DeviceArray<float> out(device, 40 * 64, "out");
    const DeviceArray<float> partial_out(device, 2 * 40 * 64, "partial outputs");
    const DeviceArray<float> partial_lse(device, 2 * 40, "partial sums");
    DeviceArray<DeviceSequence> sequences(device, 1, "sequences");
    sequences.Upload(std::vector<DeviceSequence>{{.num_queries = 40, .context = 64}});
    std::vector<DeviceItem> item_list;
    for (const int32_t part : {0, 1}) {
      for (const int32_t first : {0, 32}) {
        item_list.push_back({.first_query = first,
                             .num_queries = first == 0 ? 32 : 8,
                             .first_key = part == 0 ? 0 : 48,
                             .end_key = part == 0 ? 48 : 64,
                             .partial_row = 40 * part + first});
      }
    }
    DeviceArray<DeviceItem> items(device, 4, "items");
    items.Upload(item_list);
    std::vector<DeviceMerge> merge_list;
    for (int32_t query = 0; query < 40; ++query) {
      merge_list.push_back({.row = query, .first_partial = query, .parts = 2, .stride = 40});
    }
    DeviceArray<DeviceMerge> merges(device, 40, "merges");
    merges.Upload(merge_list);

    AttentionParams params;
    params.q = q.global();
    params.q_row_stride = call.q_row_stride != 0 ? call.q_row_stride : 64;
    params.out = out.global();
    params.k = k.data();
    params.v = v.data();
    params.layout = call.layout;
    params.blocks = blocks.global();
    params.sequences = sequences.global();
    params.items = items.global();
    params.num_heads = 1;
    params.num_kv_heads = 1;
    params.scale_log2 = call.scale * std::numbers::log2e_v<float>;
    params.partial_out = partial_out.global();
    params.partial_lse = partial_lse.global();
    const Kernel& kernel = device.kernel(AttentionMmaName("fp16", 64, true, 32));
    Launch(device, kernel, {{4, 1, 1}, kernel.shared_bytes}, params);
    Launch(device, device.kernel("attention-merge"), {{40, 1, 1}, 0},
           AttentionMergeParams{.merges = merges.global(),
                                .partial_out = partial_out.global(),
                                .partial_lse = partial_lse.global(),
                                .out = out.global(),
                                .num_heads = 1,
                                .head_dim = 64});
    std::vector<float> lse(80);
    partial_lse.Download(lse);
    // Query 23, at position 47, is the last that sees nothing of the second part.
    EXPECT_EQ(lse[40 + 23], -INFINITY);
    EXPECT_TRUE(std::isfinite(lse[40 + 24]));
    out.Download({call.out, 40 * 64});
    EXPECT_LE(attention_case.LargestError(40, random), 2e-3);
  }
}

}  // namespace
}  // namespace kvbench
