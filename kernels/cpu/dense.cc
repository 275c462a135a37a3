#include "kernels/cpu/dense.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "kernels/cpu/targets.h"
#include "kernels/dummy_weights.h"
#include "kernels/float16.h"

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
/// Panels that share the loads of x where there are rows enough to be bound by arithmetic.
constexpr int kPanelsAtOnce = kPanelVectors == 1 ? 2 : 1;
/// Rows that share the panels' loads: their sums leave room for the loads in 16 (AVX-512: 32)
/// registers.
constexpr int kRowBlock = std::max(1, 12 / kPanelVectors);
/// Up to so many rows are one block, and go through a panel in one pass.
constexpr int kFewRows = kPanelsAtOnce == 1 ? kRowBlock : 16;
/// Inputs after which the next rows take their turn, while this much of the panel is in the
/// first-level cache.
constexpr int64_t kDepthBlock = 256;
/// Bytes ahead that a panel is prefetched. It may reach into the next panel, or past the last one:
/// a prefetch cannot fault.
constexpr int64_t kAheadBytes = 16 * 1024;

/// Sums that follow one another wait for each other: with few of them several inputs have sums of
/// their own, as many as about 16 registers hold (8 where there are 16).
template <int kSums>
constexpr int kChains = kSums * 4 <= (kLanes >= 16 ? 16 : 8)   ? 4
                        : kSums * 2 <= (kLanes >= 16 ? 16 : 8) ? 2
                                                               : 1;

// y[r, 0..16 * kPanels) (+)= x[begin..end, r] * panels for kRows rows.
// The unrolling matters: sums that stay an array are stored at every step.
template <int kRows, int kPanels, typename T>
HWY_INLINE void MultiplyPanels(const float* HWY_RESTRICT x, const T* HWY_RESTRICT panel, int64_t in,
                               int64_t begin, int64_t end, float* HWY_RESTRICT y,
                               int64_t y_stride) {
  const F32Tag d;
  constexpr int kVectors = kPanels * kPanelVectors;
  constexpr int kSums = kRows * kVectors;
  F32 sums[kChains<kSums> * kSums];
  KVBENCH_UNROLL
  for (int i = 0; i < kSums; ++i) {
    const float* const from = y + i / kVectors * y_stride + i % kVectors * kLanes;
    sums[i] = begin == 0 ? hn::Zero(d) : hn::LoadU(d, from);
  }
  KVBENCH_UNROLL
  for (int i = kSums; i < kChains<kSums> * kSums; ++i) sums[i] = hn::Zero(d);
  const auto add = [&](int64_t k, F32* HWY_RESTRICT to) HWY_ATTR {
    F32 weights[kVectors];
    KVBENCH_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      const T* const of = panel + j / kPanelVectors * in * kPanelLanes;
      weights[j] = LoadF32(d, of + k * kPanelLanes + j % kPanelVectors * kLanes);
    }
    KVBENCH_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const F32 value = hn::Set(d, x[k * kRows + r]);
      KVBENCH_UNROLL
      for (int j = 0; j < kVectors; ++j) {
        to[r * kVectors + j] = hn::MulAdd(value, weights[j], to[r * kVectors + j]);
      }
    }
  };
  int64_t ahead = kAheadBytes / static_cast<int64_t>(sizeof(T));
  // What follows the end of these panels is not the next one, but the one after the last of these.
  if (begin * kPanelLanes + ahead >= in * kPanelLanes) ahead += (kPanels - 1) * in * kPanelLanes;
  int64_t k = begin;
  for (; k + kChains<kSums> <= end; k += kChains<kSums>) {
    KVBENCH_UNROLL
    for (int chain = 0; chain < kChains<kSums>; ++chain) {
      KVBENCH_UNROLL
      for (int p = 0; p < kPanels; ++p) {
        hwy::Prefetch(panel + (p * in + k + chain) * kPanelLanes + ahead);
      }
      add(k + chain, sums + chain * kSums);
    }
  }
  for (; k < end; ++k) add(k, sums);
  KVBENCH_UNROLL
  for (int i = 0; i < kSums; ++i) {
    F32 sum = sums[i];
    KVBENCH_UNROLL
    for (int chain = 1; chain < kChains<kSums>; ++chain) {
      sum = hn::Add(sum, sums[chain * kSums + i]);
    }
    hn::StoreU(sum, d, y + i / kVectors * y_stride + i % kVectors * kLanes);
  }
}

// `rows` rows, 1 to kRows.
template <int kPanels, typename T, int kRows = kPanels == kPanelsAtOnce ? kRowBlock : kFewRows>
void MultiplyRows(int64_t rows, const float* x, const T* panel, int64_t in, int64_t begin,
                  int64_t end, float* y, int64_t y_stride) {
  if (rows == kRows) {
    return MultiplyPanels<kRows, kPanels>(x, panel, in, begin, end, y, y_stride);
  }
  if constexpr (kRows > 1) {
    MultiplyRows<kPanels, T, kRows - 1>(rows, x, panel, in, begin, end, y, y_stride);
  }
}

constexpr int64_t RowBlocks(int64_t rows) {
  return rows <= kFewRows ? 1 : (rows + kRowBlock - 1) / kRowBlock;
}
/// Where the rows of block `b` of RowBlocks(rows) begin. Two blocks: a full one, which is the most
/// efficient, and the rest. More: all alike.
constexpr int64_t FirstRow(int64_t b, int64_t rows) {
  const int64_t blocks = RowBlocks(rows);
  return blocks == 2 ? std::min<int64_t>(b * kRowBlock, rows) : rows * b / blocks;
}

/// kPanels panels for all rows. @param x as PackRows wrote it @param y [rows, 16 * kPanels]
template <int kPanels, typename T>
void MultiplyAllRows(const float* x, int64_t rows, int64_t in, const T* panel, float* y,
                     int64_t y_stride) {
  const int64_t blocks = RowBlocks(rows);
  const int64_t depth = blocks == 1 ? in : kDepthBlock;
  for (int64_t begin = 0; begin < in; begin += depth) {
    const int64_t end = std::min(in, begin + depth);
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t row = FirstRow(block, rows);
      MultiplyRows<kPanels>(FirstRow(block + 1, rows) - row, x + row * in, panel, in, begin, end,
                            y + row * y_stride, y_stride);
    }
  }
}

template <typename T>
void MultiplyPanelsOf(const float* x, int64_t rows, int64_t in, const T* panel, int64_t panels,
                      float* y, int64_t y_stride) {
  int64_t p = 0;
  if (rows > kFewRows) {
    for (; p + kPanelsAtOnce <= panels; p += kPanelsAtOnce) {
      MultiplyAllRows<kPanelsAtOnce>(x, rows, in, panel + p * in * kPanelLanes, y + p * kPanelLanes,
                                     y_stride);
    }
  }
  for (; p < panels; ++p) {
    MultiplyAllRows<1>(x, rows, in, panel + p * in * kPanelLanes, y + p * kPanelLanes, y_stride);
  }
}

/// @param x as PackRows wrote it @param panel the first of `panels` of the layer's type
void MultiplyByPanels(const float* x, int64_t rows, int64_t in, const void* panel, int64_t panels,
                      WeightType type, float* y, int64_t y_stride) {
  if (type == WeightType::kBf16) {
    MultiplyPanelsOf(x, rows, in, static_cast<const hwy::bfloat16_t*>(panel), panels, y, y_stride);
  } else {
    MultiplyPanelsOf(x, rows, in, static_cast<const float*>(panel), panels, y, y_stride);
  }
}

/// x [rows, in], 2 rows or more, block by block as [in, rows of the block]: what one input is
/// multiplied with lies in one or two cache lines, and rows whose distance is a multiple of 4 KiB
/// do not fight for one set.
void PackRows(const float* HWY_RESTRICT x, int64_t rows, int64_t in, float* HWY_RESTRICT packed) {
  for (int64_t block = 0; block < RowBlocks(rows); ++block) {
    const int64_t first = FirstRow(block, rows);
    const int64_t count = FirstRow(block + 1, rows) - first;
    const float* const from = x + first * in;
    float* const to = packed + first * in;
    int64_t squares = 0;
#if HWY_TARGET != HWY_SCALAR
    // Squares of 4 rows by 4 inputs, the last rows' overlapping the ones before.
    const hn::FixedTag<float, 4> d;
    squares = count < 4 ? 0 : in - in % 4;
    for (int64_t r = 0; r < count && squares > 0; r += 4) {
      r = std::min(r, count - 4);
      for (int64_t k = 0; k < squares; k += 4) {
        const auto row0 = hn::LoadU(d, from + r * in + k);
        const auto row1 = hn::LoadU(d, from + (r + 1) * in + k);
        const auto row2 = hn::LoadU(d, from + (r + 2) * in + k);
        const auto row3 = hn::LoadU(d, from + (r + 3) * in + k);
        const auto lower01 = hn::InterleaveLower(d, row0, row1);
        const auto lower23 = hn::InterleaveLower(d, row2, row3);
        const auto upper01 = hn::InterleaveUpper(d, row0, row1);
        const auto upper23 = hn::InterleaveUpper(d, row2, row3);
        float* const square = to + k * count + r;
        hn::StoreU(hn::ConcatLowerLower(d, lower23, lower01), d, square);
        hn::StoreU(hn::ConcatUpperUpper(d, lower23, lower01), d, square + count);
        hn::StoreU(hn::ConcatLowerLower(d, upper23, upper01), d, square + 2 * count);
        hn::StoreU(hn::ConcatUpperUpper(d, upper23, upper01), d, square + 3 * count);
      }
    }
#endif
    for (int64_t k = squares; k < in; ++k) {
      for (int64_t r = 0; r < count; ++r) to[k * count + r] = from[r * in + k];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvbench {

HWY_EXPORT(MultiplyByPanels);
HWY_EXPORT(PackRows);

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
  const float range = DummyWeightRange(in);
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t i = 0; i < in; ++i) {
      Put(o, i, DummyWeight(seed, static_cast<uint64_t>(o * in + i), range));
    }
  }
}

void DenseLayer::Run(ThreadPool& pool, const float* x, int64_t rows, float* y) const {
  const auto multiply = HWY_DYNAMIC_DISPATCH(MultiplyByPanels);
  const int64_t panel_bytes = kPanel * in_ * WeightBytes(type_);
  const int64_t whole_panels = out_ / kPanel;
  pool.Run([&](int thread) {
    const ThreadRange range = SplitRange(Panels(out_), thread, pool.size());
    const auto panel = [&](int64_t p) { return weights_.as<char>() + p * panel_bytes; };
    thread_local std::vector<float> packed;
    for (int64_t row = 0; row < rows; row += kRowChunk) {
      const int64_t count = std::min(kRowChunk, rows - row);
      const float* from = x + row * in_;
      if (count > 1) {
        packed.resize(std::max(packed.size(), static_cast<size_t>(count * in_)));
        HWY_DYNAMIC_DISPATCH(PackRows)(from, count, in_, packed.data());
        from = packed.data();
      }
      const int64_t whole = std::min(range.end, whole_panels);
      if (range.begin < whole) {
        multiply(from, count, in_, panel(range.begin), whole - range.begin, type_,
                 y + row * out_ + range.begin * kPanel, out_);
      }
      if (whole == range.end) continue;
      const int64_t column = whole_panels * kPanel;
      float part[kRowChunk * kPanel];
      multiply(from, count, in_, panel(whole_panels), 1, type_, part, kPanel);
      for (int64_t r = 0; r < count; ++r) {
        std::copy_n(part + r * kPanel, out_ - column, y + (row + r) * out_ + column);
      }
    }
  });
}

}  // namespace kvbench
#endif
