#include "bench/gpu/decode_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.h"
#include "kernels/checks/device_attention_cases.h"
#include "kernels/cuda/device_attention.h"
#include "kernels/cuda/device_vllm_v1.h"
#include "kernels/reference/attention.h"

namespace kvbench::gpu {

namespace {

/// K's pool and V's behind it, each from a boundary on that any allocation has.
int64_t PoolStride(const DecodeCell& cell) { return (cell.PoolBytes() + 255) / 256 * 256; }
int64_t ArenaBytes(const DecodeCell& cell) { return 2 * PoolStride(cell); }

float Scale(const DecodeCell& cell) { return 1 / std::sqrt(static_cast<float>(cell.head_dim)); }

/// Attention of one query head, in double, over keys and values that `k` and `v` say.
template <typename Element>
std::vector<double> Reference(const DecodeCell& cell, const float* q, const Element& k,
                              const Element& v) {
  const auto keys = static_cast<size_t>(cell.context);
  std::vector<double> weights(keys);
  for (size_t key = 0; key < keys; ++key) {
    for (int32_t i = 0; i < cell.head_dim; ++i) {
      weights[key] += static_cast<double>(q[i]) * k(static_cast<int32_t>(key), i);
    }
    weights[key] *= static_cast<double>(Scale(cell));
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& weight : weights) {
    weight = std::exp(weight - largest);
    sum += weight;
  }
  std::vector<double> out(static_cast<size_t>(cell.head_dim));
  for (size_t key = 0; key < keys; ++key) {
    for (int32_t i = 0; i < cell.head_dim; ++i) {
      out[static_cast<size_t>(i)] += weights[key] / sum * v(static_cast<int32_t>(key), i);
    }
  }
  return out;
}

}  // namespace

DecodeBench::DecodeBench(Device& device, const DecodeBenchOptions& options,
                         const std::vector<DecodeCell>& cells, WallClock now)
    : device_(device), options_(options), now_(std::move(now)), roof_(device) {
  if (options_.flush_bytes == 0) {
    options_.flush_bytes = std::max<int64_t>(2 * device.properties().l2_bytes, 1 << 20);
  }
  flushed_ = {device, options_.flush_bytes, "what flushes the L2"};
  device.Fill(flushed_.data(), 0, static_cast<size_t>(flushed_.count()));
  int64_t rows = 0;
  for (const DecodeCell& cell : cells) {
    rows = std::max(rows, int64_t{cell.batch} * cell.num_heads * cell.head_dim);
  }
  q_ = {device, rows, "q"};
  out_ = {device, rows, "out"};
  const auto room = static_cast<int64_t>(device.free_bytes()) / 10 * 9;
  int64_t bytes = options_.roof_bytes;
  for (const DecodeCell& cell : cells) {
    if (KvArena::BytesFor(ArenaBytes(cell), options_.tile_bytes) <= room) {
      bytes = std::max(bytes, ArenaBytes(cell));
    }
  }
  arena_ = std::make_unique<KvArena>(device, bytes, options_.tile_bytes);
}

const uint8_t* DecodeBench::V(const DecodeCell& cell) const {
  return arena_->data() + PoolStride(cell);
}

void DecodeBench::Flush() {
  // Read, not written: lines that wait to be written back would be on the next kernel's account.
  roof_.Read(flushed_.data(), flushed_.count());
}

DecodeResult DecodeBench::Run(const DecodeCell& cell) {
  DecodeResult result;
  result.cell = cell;
  if (ArenaBytes(cell) > arena_->bytes()) {
    result.skipped = fmt::format("its pools take {}, the device has room for {}",
                                 Bytes(ArenaBytes(cell)), Bytes(arena_->bytes()));
    return result;
  }
  const PlacedCell placed(cell, random_);
  const DeviceAttentionShape shape = {.kv_type = KvType::kFp16,
                                      .num_heads = cell.num_heads,
                                      .num_kv_heads = cell.num_kv_heads,
                                      .head_dim = cell.head_dim,
                                      .scale = Scale(cell),
                                      .layout = placed.layout()};
  if (cell.vllm_v1) {
    DeviceVllmV1 attention(device_, shape);
    Measure(attention, placed, result);
  } else {
    DeviceAttention attention(device_, shape);
    Measure(attention, placed, result);
  }
  return result;
}

template <typename Attention>
void DecodeBench::Measure(Attention& attention, const PlacedCell& placed, DecodeResult& result) {
  const DecodeCell& cell = result.cell;
  std::vector<float> q(static_cast<size_t>(cell.batch * cell.num_heads * cell.head_dim));
  std::normal_distribution<float> normal;
  std::generate(q.begin(), q.end(), [&] { return normal(random_); });
  q_.Upload(q);
  result.kernel = attention.decode_kernel();
  constexpr int kPlans = 5;
  for (int i = 0; i <= kPlans; ++i) {
    device_.Synchronize();
    const double begin = now_();
    attention.Plan(placed.sequences());
    if (i > 0) {  // the first one allocates
      result.plan_seconds.push_back(now_() - begin);
    }
  }
  const auto run = [&] { attention.Run(q_.data(), 0, out_.data(), arena_->data(), V(cell)); };
  device_.Fill(out_.data(), 0xff, q.size() * sizeof(float));
  for (int i = 0; i < std::max(1, options_.warmups); ++i) {
    run();
    roof_.Read(arena_->data(), options_.roof_bytes);
  }
  CheckLastRow(placed, q, result);

  std::vector<std::pair<int64_t, int64_t>> events;
  std::vector<std::pair<int64_t, int64_t>> roof_events;
  const auto timed = [&](auto& list, const auto& what) {
    Flush();
    const int64_t begin = device_.Record();
    what();
    list.emplace_back(begin, device_.Record());
  };
  for (int i = 0; i < options_.repetitions; ++i) {
    if (i % options_.repetitions_a_roof == 0) {
      timed(roof_events, [&] { roof_.Read(arena_->data(), options_.roof_bytes); });
    }
    timed(events, run);
  }
  device_.Synchronize();
  for (const auto& [begin, end] : events) {
    result.seconds.push_back(device_.SecondsBetween(begin, end));
  }
  for (const auto& [begin, end] : roof_events) {
    result.roof_seconds.push_back(device_.SecondsBetween(begin, end));
  }
}

void DecodeBench::CheckLastRow(const PlacedCell& placed, const std::vector<float>& q,
                               DecodeResult& result) {
  const DecodeCell& cell = result.cell;
  const int32_t head = cell.num_heads - 1;
  const AttentionSequence& sequence = placed.sequences().back();
  const int64_t row = (int64_t{cell.batch} * cell.num_heads - 1) * cell.head_dim;
  const auto elements = [&](int64_t pool) {
    return [&, pool](int32_t key, int32_t i) {
      const int64_t offset = KvElementOffset(placed.layout(), sequence,
                                             head / (cell.num_heads / cell.num_kv_heads), key) +
                             i;
      return arena_->ElementAt(pool + 2 * offset);
    };
  };
  const std::vector<double> expected =
      Reference(cell, q.data() + row, elements(0), elements(PoolStride(cell)));
  std::vector<float> actual(expected.size());
  device_.Synchronize();
  device_.CopyToHost(actual.data(), out_.data() + row, actual.size() * sizeof(float));
  double difference = 0;
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(static_cast<double>(actual[i]) - expected[i]);
    difference =
        std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(difference, error);
    largest = std::max(largest, std::abs(expected[i]));
  }
  result.error = difference / largest;
  result.right = result.error <= DeviceTolerance(KvType::kFp16);
}

}  // namespace kvbench::gpu
