#include "kernels/cpu/dense.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "kernels/cpu/targets.h"
#include "kernels/float16.h"
#include "kernels/mix_bits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/dense.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/cpu/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {

constexpr int kPanelLanes = static_cast<int>(DenseLayer::kPanel);
constexpr int kPanelVectors = kPanelLanes / kLanes;
/// Rows of x that share a panel's loads: 12 sums leave room for the loads in 16 registers.
constexpr int kRowBlock = std::max(1, 12 / kPanelVectors);
/// Inputs after which the next rows take their turn, while this much of the panel is in the
/// first-level cache.
constexpr int64_t kDepthBlock = 256;
/// Bytes ahead that a panel is prefetched. It may reach into the next panel, or past the last one:
/// a prefetch cannot fault.
constexpr int64_t kAheadBytes = 16 * 1024;

/// Sums that follow one another wait for each other: with few rows several inputs have sums of
/// their own, as many as about 16 registers hold (8 where there are 16).
template <int kRows>
constexpr int kChains = kRows* kPanelVectors * 4 <= (kLanes >= 16 ? 16 : 8)   ? 4
                        : kRows* kPanelVectors * 2 <= (kLanes >= 16 ? 16 : 8) ? 2
                                                                              : 1;

// y[r, 0..16) (+)= x[r, begin..end) * panel for kRows rows.
// The unrolling matters: sums that stay an array are stored at every step.
template <int kRows, typename T>
HWY_INLINE void MultiplyPanel(const float* HWY_RESTRICT x, int64_t x_stride,
                              const T* HWY_RESTRICT panel, int64_t begin, int64_t end,
                              float* HWY_RESTRICT y, int64_t y_stride) {
  const F32Tag d;
  constexpr int kSums = kRows * kPanelVectors;
  F32 sums[kChains<kRows> * kSums];
  KVBENCH_UNROLL
  for (int i = 0; i < kSums; ++i) {
    const float* const from = y + i / kPanelVectors * y_stride + i % kPanelVectors * kLanes;
    sums[i] = begin == 0 ? hn::Zero(d) : hn::LoadU(d, from);
  }
  KVBENCH_UNROLL
  for (int i = kSums; i < kChains<kRows> * kSums; ++i) sums[i] = hn::Zero(d);
  const auto add = [&](int64_t k, F32* HWY_RESTRICT to) HWY_ATTR {
    F32 weights[kPanelVectors];
    KVBENCH_UNROLL
    for (int j = 0; j < kPanelVectors; ++j) {
      weights[j] = LoadF32(d, panel + k * kPanelLanes + j * kLanes);
    }
    KVBENCH_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const F32 value = hn::Set(d, x[r * x_stride + k]);
      KVBENCH_UNROLL
      for (int j = 0; j < kPanelVectors; ++j) {
        to[r * kPanelVectors + j] = hn::MulAdd(value, weights[j], to[r * kPanelVectors + j]);
      }
    }
  };
  int64_t k = begin;
  for (; k + kChains<kRows> <= end; k += kChains<kRows>) {
    KVBENCH_UNROLL
    for (int chain = 0; chain < kChains<kRows>; ++chain) {
      hwy::Prefetch(panel + (k + chain) * kPanelLanes +
                    kAheadBytes / static_cast<int64_t>(sizeof(T)));
      add(k + chain, sums + chain * kSums);
    }
  }
  for (; k < end; ++k) add(k, sums);
  KVBENCH_UNROLL
  for (int i = 0; i < kSums; ++i) {
    F32 sum = sums[i];
    KVBENCH_UNROLL
    for (int chain = 1; chain < kChains<kRows>; ++chain) {
      sum = hn::Add(sum, sums[chain * kSums + i]);
    }
    hn::StoreU(sum, d, y + i / kPanelVectors * y_stride + i % kPanelVectors * kLanes);
  }
}

// `rows` rows, 1 to kRowBlock.
template <typename T, int kRows = kRowBlock>
void MultiplyRows(int64_t rows, const float* x, int64_t x_stride, const T* panel, int64_t begin,
                  int64_t end, float* y, int64_t y_stride) {
  if (rows == kRows) return MultiplyPanel<kRows>(x, x_stride, panel, begin, end, y, y_stride);
  if constexpr (kRows > 1) {
    MultiplyRows<T, kRows - 1>(rows, x, x_stride, panel, begin, end, y, y_stride);
  }
}

/// One panel for all rows. @param y [rows, 16], rows y_stride apart
template <typename T>
void MultiplyPanelOf(const float* x, int64_t rows, int64_t in, const T* panel, float* y,
                     int64_t y_stride) {
  const int64_t blocks = (rows + kRowBlock - 1) / kRowBlock;
  const int64_t depth = blocks == 1 ? in : kDepthBlock;
  for (int64_t begin = 0; begin < in; begin += depth) {
    const int64_t end = std::min(in, begin + depth);
    for (int64_t block = 0; block < blocks; ++block) {
      // Two blocks: a full one, which is the most efficient, and the rest. More: all alike.
      const auto first = [&](int64_t b) {
        return blocks == 2 ? std::min<int64_t>(b * kRowBlock, rows) : rows * b / blocks;
      };
      const int64_t row = first(block);
      const int64_t count = first(block + 1) - row;
      MultiplyRows(count, x + row * in, in, panel, begin, end, y + row * y_stride, y_stride);
    }
  }
}

/// @param panel of the layer's type
void MultiplyByPanel(const float* x, int64_t rows, int64_t in, const void* panel, WeightType type,
                     float* y, int64_t y_stride) {
  if (type == WeightType::kBf16) {
    MultiplyPanelOf(x, rows, in, static_cast<const hwy::bfloat16_t*>(panel), y, y_stride);
  } else {
    MultiplyPanelOf(x, rows, in, static_cast<const float*>(panel), y, y_stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvbench {

HWY_EXPORT(MultiplyByPanel);

namespace {

/// Rows that go through all panels before the next: their inputs stay in the caches.
constexpr int64_t kRowChunk = 192;

int64_t Panels(int64_t out) { return (out + DenseLayer::kPanel - 1) / DenseLayer::kPanel; }

}  // namespace

DenseLayer::DenseLayer(int64_t in, int64_t out, WeightType type)
    : in_(in),
      out_(out),
      type_(type),
      weights_(static_cast<size_t>(Panels(out) * kPanel * in * WeightBytes(type))) {
  assert(in > 0 && out > 0);
}

void DenseLayer::Put(int64_t out, int64_t in, float weight) {
  const int64_t at = (out / kPanel * in_ + in) * kPanel + out % kPanel;
  if (type_ == WeightType::kBf16) {
    weights_.as<uint16_t>()[at] = FloatToBf16(weight);
  } else {
    weights_.as<float>()[at] = weight;
  }
}

DenseLayer::DenseLayer(int64_t in, int64_t out, std::span<const float> weights, WeightType type)
    : DenseLayer(in, out, type) {
  assert(static_cast<int64_t>(weights.size()) == in * out);
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t i = 0; i < in; ++i) Put(o, i, weights[static_cast<size_t>(o * in + i)]);
  }
}

DenseLayer::DenseLayer(int64_t in, int64_t out, uint64_t seed, WeightType type)
    : DenseLayer(in, out, type) {
  const float largest = std::sqrt(3.0f / static_cast<float>(in));
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t i = 0; i < in; ++i) {
      const auto bits = static_cast<int32_t>(
          MixBits(seed + static_cast<uint64_t>(o * in + i) * kMixIncrement) >> 40);
      Put(o, i, static_cast<float>(bits - (1 << 23)) * 0x1p-23f * largest);
    }
  }
}

void DenseLayer::Run(ThreadPool& pool, const float* x, int64_t rows, float* y) const {
  const auto multiply = HWY_DYNAMIC_DISPATCH(MultiplyByPanel);
  const int64_t panel_bytes = kPanel * in_ * WeightBytes(type_);
  pool.Run([&](int thread) {
    const ThreadRange range = SplitRange(Panels(out_), thread, pool.size());
    for (int64_t row = 0; row < rows; row += kRowChunk) {
      const int64_t count = std::min(kRowChunk, rows - row);
      for (int64_t panel = range.begin; panel < range.end; ++panel) {
        const void* const weights = weights_.as<char>() + panel * panel_bytes;
        const int64_t column = panel * kPanel;
        if (column + kPanel <= out_) {
          multiply(x + row * in_, count, in_, weights, type_, y + row * out_ + column, out_);
          continue;
        }
        float part[kRowChunk * kPanel];
        multiply(x + row * in_, count, in_, weights, type_, part, kPanel);
        for (int64_t r = 0; r < count; ++r) {
          std::copy_n(part + r * kPanel, out_ - column, y + (row + r) * out_ + column);
        }
      }
    }
  });
}

}  // namespace kvbench
#endif
