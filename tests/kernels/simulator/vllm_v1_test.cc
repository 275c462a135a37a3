#include <cmath>
#include <numbers>

#include "kernels/checks/attention_case.h"
#include "kernels/cuda/vllm_v1_params.h"
#include "kernels/reference/attention.h"
#include "tests/kernels/simulator/kernel_runner.h"

namespace kvbench {
namespace {

/// A call on the device: one item for each query, with all keys that it sees.
struct DeviceCall {
  VllmV1Params params;
  int items = 0;
  int32_t largest_context = 0;
};

DeviceCall Upload(KernelRunner& runner, const AttentionCall& call, int64_t rows, const void* k,
                  const void* v) {
  DeviceCall result;
  const int64_t row = int64_t{call.num_heads} * call.head_dim;
  const int64_t q_row_stride = call.q_row_stride == 0 ? row : call.q_row_stride;
  std::vector<int32_t> blocks;
  std::vector<DeviceSequence> sequences;
  std::vector<DeviceItem> items;
  for (const AttentionSequence& sequence : call.sequences) {
    const bool paged = call.layout.block_size > 0;
    sequences.push_back({.base = sequence.base,
                         .head_stride = paged ? call.layout.head_stride : sequence.head_stride,
                         .first_row = sequence.first_query,
                         .num_queries = sequence.num_queries,
                         .context = sequence.context,
                         .first_block = static_cast<int32_t>(blocks.size())});
    if (paged) {
      blocks.insert(blocks.end(), sequence.blocks,
                    sequence.blocks +
                        (sequence.context + call.layout.block_size - 1) / call.layout.block_size);
    }
    for (int32_t query = 0; query < sequence.num_queries; ++query) {
      const int32_t keys = sequence.context - sequence.num_queries + query + 1;
      items.push_back({.sequence = static_cast<int32_t>(sequences.size()) - 1,
                       .first_query = query,
                       .num_queries = 1,
                       .end_key = keys});
      result.largest_context = std::max(result.largest_context, keys);
    }
  }
  result.items = static_cast<int>(items.size());
  result.params = {
      .q = runner.Upload(std::vector<float>(call.q, call.q + rows * q_row_stride), "q"),
      .q_row_stride = q_row_stride,
      .out = runner.Allocate<float>(rows * row, "out"),
      .k = k,
      .v = v,
      .layout = call.layout,
      .blocks = runner.Upload(blocks, "blocks"),
      .sequences = runner.Upload(sequences, "sequences"),
      .items = runner.Upload(items, "items"),
      .num_heads = call.num_heads,
      .num_kv_heads = call.num_kv_heads,
      .scale_log2 = call.scale * std::numbers::log2e_v<float>,
      .partial_out = {},
      .partial_lse = {}};
  return result;
}

class VllmV1Test : public testing::Test {
 protected:
  static std::string Name(KvType type, int32_t head_dim) {
    return std::string("vllm_v1/") + (type == KvType::kFp16 ? "fp16/" : "bf16/") +
           std::to_string(head_dim);
  }

  void Check(const AttentionCaseSpec& spec) {
    SCOPED_TRACE(spec.ToString());
    AttentionCase attention(spec, normals_, random_);
    const AttentionCall& call = attention.call();
    const auto pool = [&](const void* elements, const char* name) {
      const auto* const begin = static_cast<const uint16_t*>(elements);
      return runner_.Upload(std::vector<uint16_t>(begin, begin + attention.pool_elements()), name);
    };
    const Global<uint16_t> k = pool(call.k, "K");
    const Global<uint16_t> v = pool(call.v, "V");
    const DeviceCall device = Upload(runner_, call, attention.rows(), k.address, v.address);
    int64_t kv_bytes = 0;  // of K, or of V: each query head reads for itself
    for (const AttentionSequence& sequence : attention.sequences()) {
      for (int32_t query = 0; query < sequence.num_queries; ++query) {
        kv_bytes += (sequence.context - query) * spec.group * spec.num_kv_heads *
                    KvRowBytes(spec.kv_type, spec.head_dim);
      }
    }
    const int64_t out_floats = attention.rows() * call.num_heads * call.head_dim;
    std::vector<float> first;
    const AccessLog log = runner_.ForEachSchedule([&](const SimulatorOptions& options) {
      std::fill_n(device.params.out.address, out_floats, NAN);
      runner_.Launch(Name(spec.kv_type, spec.head_dim), device.params,
                     {device.items, call.num_heads, 1}, options,
                     VllmV1SharedBytes(device.largest_context, spec.head_dim));
      const std::vector<float> out = runner_.Read(device.params.out, out_floats);
      if (!first.empty()) {
        ASSERT_EQ(out, first);
        return;
      }
      first = out;
      std::copy(out.begin(), out.end(), call.out);
      EXPECT_LE(attention.LargestError(100, random_), spec.kv_type == KvType::kFp16 ? 2e-3 : 1e-2);
    });
    CheckBytes(log, k, v, attention.pool_elements(), kv_bytes);
  }

  static void CheckBytes(const AccessLog& log, Global<uint16_t> k, Global<uint16_t> v,
                         int64_t pool_elements, int64_t kv_bytes) {
    for (const Global<uint16_t> pool : {k, v}) {
      EXPECT_EQ(log.BytesIn(AccessLog::Kind::kGlobalLoad, pool.address,
                            static_cast<size_t>(2 * pool_elements)),
                kv_bytes);
    }
    int loads = 0;
    for (const AccessLog::Place& place : log.places()) {
      if (place.kind == AccessLog::Kind::kGlobalLoad && place.bytes == kv_bytes) {
        ++loads;
        EXPECT_EQ(place.wasted(), 0) << place.site;
      }
    }
    EXPECT_EQ(loads, 2);
  }

  NormalTable normals_;
  std::mt19937_64 random_{13};
  KernelRunner runner_;
};

TEST_F(VllmV1Test, MatchesTheReference) {
  int count = 0;
  for (const int32_t head_dim : {64, 128, 256}) {
    for (const int32_t block_size : {0, 1, 8, 16, 128}) {
      ++count;
      Check({.kv_type = count % 2 == 0 ? KvType::kFp16 : KvType::kBf16,
             .block_size = block_size,
             .head_stride = count % 4 < 2 ? HeadStride::kPadded : HeadStride::kUnpadded,
             .group = 1 << count % 3,
             .num_kv_heads = 1 + count / 2 % 2,
             .head_dim = head_dim,
             .sequences = {{.context = 1 + count % 3},
                           {.context = 31 + count % 4},
                           {.context = (block_size == 128 ? 128 : 64) + count % 3,
                            .num_queries = 1 + count % 2}}});
    }
  }
}

TEST_F(VllmV1Test, LargeGroups) {
  for (const KvType type : {KvType::kFp16, KvType::kBf16}) {
    Check({.kv_type = type,
           .block_size = 16,
           .group = 8,
           .num_kv_heads = 1,
           .head_dim = 64,
           .sequences = {{.context = 200}}});
  }
}

TEST_F(VllmV1Test, NoKeysGiveZeros) {
  const AttentionCaseSpec spec{.group = 1, .head_dim = 64, .sequences = {{.context = 3}}};
  AttentionCase attention(spec, normals_, random_);
  DeviceCall device = Upload(runner_, attention.call(), 1, nullptr, nullptr);
  device.params.items = runner_.Upload(std::vector<DeviceItem>{{.num_queries = 1}}, "items");
  runner_.ForEachSchedule([&](const SimulatorOptions& options) {
    std::fill_n(device.params.out.address, 64, NAN);
    runner_.Launch(Name(spec.kv_type, 64), device.params, {1, 1, 1}, options,
                   VllmV1SharedBytes(0, 64));
    EXPECT_EQ(runner_.Read(device.params.out, 64), std::vector<float>(64, 0.0f));
  });
}

TEST_F(VllmV1Test, BlocksPast32Bits) {
  // Block numbers whose byte offsets pass 2^31 and 2^32, and whose element offsets pass 2^31.
  const std::vector<int32_t> blocks = {1, (1 << 20) + 1, (1 << 21) + 1};
  constexpr int32_t kKeys = 40;
  AttentionCall call{.kv_type = KvType::kFp16,
                     .num_heads = 1,
                     .num_kv_heads = 1,
                     .head_dim = 64,
                     .scale = 0.125f,
                     .layout = PagedLayout(16, 1, 64),
                     .sequences = {}};
  const AttentionSequence sequence{.num_queries = 1, .context = kKeys, .blocks = blocks.data()};
  const std::span<const float> q = normals_.Draw(64, random_);
  call.q = q.data();
  call.sequences = std::span(&sequence, 1);
  const auto pool =
      runner_.Allocate<uint16_t>(PagedPoolElements(call.layout, blocks.back() + 1), "pool");
  for (int32_t key = 0; key < kKeys; ++key) {
    const int64_t offset = KvElementOffset(call.layout, sequence, 0, key);
    const std::span<const float> values = normals_.Draw(64, random_);
    std::transform(values.begin(), values.end(), pool.address + offset, FloatToFp16);
  }
  call.k = call.v = pool.address;
  std::vector<double> expected(64);
  ReferenceAttentionRow(call, 0, 0, 0, expected.data());
  const DeviceCall device = Upload(runner_, call, 1, pool.address, pool.address);
  runner_.Launch(Name(call.kv_type, 64), device.params, {1, 1, 1}, {},
                 VllmV1SharedBytes(kKeys, 64));
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_NEAR(static_cast<double>(device.params.out.address[i]), expected[i], 1e-5);
  }
}

}  // namespace
}  // namespace kvbench
