#include "kernels/cpu/elementwise.h"

#include <cassert>
#include <cmath>

#include "kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elementwise.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "kernels/cpu/convert-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kvbench {
namespace HWY_NAMESPACE {

// Calls whole(i) where a whole vector fits and part(i, lanes left) once for what remains.
template <typename Whole, typename Part>
HWY_INLINE void ForEachVector(int64_t count, const Whole& whole, const Part& part) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) whole(i);
  if (i < count) part(i, static_cast<size_t>(count - i));
}

// out[i] = compute(a[i], b[i]) for any count.
template <typename Compute>
HWY_INLINE void Combine(const float* a, const float* b, int64_t count, float* out,
                        const Compute& compute) {
  const F32Tag d;
  ForEachVector(
      count,
      [&](int64_t i)
          HWY_ATTR { hn::StoreU(compute(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i); },
      [&](int64_t i, size_t lanes) HWY_ATTR {
        float x[kLanes] = {};
        float y[kLanes] = {};
        for (size_t j = 0; j < lanes; ++j) {
          x[j] = a[i + static_cast<int64_t>(j)];
          y[j] = b[i + static_cast<int64_t>(j)];
        }
        hn::StoreU(compute(hn::LoadU(d, x), hn::LoadU(d, y)), d, x);
        for (size_t j = 0; j < lanes; ++j) out[i + static_cast<int64_t>(j)] = x[j];
      });
}

void RmsNormRow(const float* x, const float* weight, int64_t dim, float epsilon, float* out) {
  const F32Tag d;
  F32 even = hn::Zero(d);
  F32 odd = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * kLanes <= dim; i += 2 * kLanes) {
    const F32 first = hn::LoadU(d, x + i);
    const F32 second = hn::LoadU(d, x + i + kLanes);
    even = hn::MulAdd(first, first, even);
    odd = hn::MulAdd(second, second, odd);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < dim; ++i) sum += x[i] * x[i];
  const F32 factor = hn::Set(d, 1.0f / std::sqrt(sum / static_cast<float>(dim) + epsilon));
  Combine(x, weight, dim, out,
          [&](F32 value, F32 w) HWY_ATTR { return hn::Mul(hn::Mul(value, factor), w); });
}

// One head: x[i], x[i + half] = rotation by angle i.
void RopeHead(const float* cosines, const float* sines, int64_t half, float* x) {
  const F32Tag d;
  int64_t i = 0;
  for (; i + kLanes <= half; i += kLanes) {
    const F32 cosine = hn::LoadU(d, cosines + i);
    const F32 sine = hn::LoadU(d, sines + i);
    const F32 a = hn::LoadU(d, x + i);
    const F32 b = hn::LoadU(d, x + half + i);
    hn::StoreU(hn::NegMulAdd(b, sine, hn::Mul(a, cosine)), d, x + i);
    hn::StoreU(hn::MulAdd(a, sine, hn::Mul(b, cosine)), d, x + half + i);
  }
  for (; i < half; ++i) {
    const float a = x[i];
    const float b = x[half + i];
    x[i] = a * cosines[i] - b * sines[i];
    x[half + i] = b * cosines[i] + a * sines[i];
  }
}

void SiluMulRow(const float* gate_up, int64_t dim, float* out) {
  const F32Tag d;
  Combine(gate_up, gate_up + dim, dim, out, [&](F32 gate, F32 up) HWY_ATTR {
    const F32 one = hn::Set(d, 1.0f);
    return hn::Mul(hn::Div(gate, hn::Add(one, hn::Exp(d, hn::Neg(gate)))), up);
  });
}

void AddRange(float* x, const float* y, int64_t count) {
  Combine(x, y, count, x, [&](F32 a, F32 b) HWY_ATTR { return hn::Add(a, b); });
}

}  // namespace HWY_NAMESPACE
}  // namespace kvbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kvbench {

HWY_EXPORT(RmsNormRow);
HWY_EXPORT(RopeHead);
HWY_EXPORT(SiluMulRow);
HWY_EXPORT(AddRange);

namespace {

// Below this many floats waking the other threads costs more than they save.
constexpr int64_t kSerialFloats = 8192;

// Calls visit(row) for all rows, on as many threads as pay.
template <typename Visit>
void ForEachRow(ThreadPool& pool, int64_t rows, int64_t row_floats, const Visit& visit) {
  if (rows * row_floats <= kSerialFloats) {
    for (int64_t row = 0; row < rows; ++row) visit(row);
    return;
  }
  pool.Run([&](int thread) {
    const ThreadRange range = SplitRange(rows, thread, pool.size());
    for (int64_t row = range.begin; row < range.end; ++row) visit(row);
  });
}

}  // namespace

void RmsNorm(ThreadPool& pool, const float* x, const float* weight, int64_t rows, int64_t dim,
             float epsilon, float* out) {
  const auto norm = HWY_DYNAMIC_DISPATCH(RmsNormRow);
  ForEachRow(pool, rows, dim,
             [&](int64_t row) { norm(x + row * dim, weight, dim, epsilon, out + row * dim); });
}

RopeTable::RopeTable(int32_t head_dim, int32_t max_positions, double theta)
    : head_dim_(head_dim), max_positions_(max_positions) {
  assert(head_dim % 2 == 0 && max_positions > 0);
  const int32_t half = head_dim / 2;
  cosines_.reserve(static_cast<size_t>(max_positions) * static_cast<size_t>(half));
  sines_.reserve(cosines_.capacity());
  std::vector<double> frequencies;
  for (int32_t i = 0; i < half; ++i) frequencies.push_back(std::pow(theta, -2.0 * i / head_dim));
  for (int32_t position = 0; position < max_positions; ++position) {
    for (const double frequency : frequencies) {
      cosines_.push_back(static_cast<float>(std::cos(position * frequency)));
      sines_.push_back(static_cast<float>(std::sin(position * frequency)));
    }
  }
}

void ApplyRope(ThreadPool& pool, const RopeTable& table, float* x, int64_t rows, int32_t heads,
               int64_t row_stride, const int32_t* positions) {
  const auto rotate = HWY_DYNAMIC_DISPATCH(RopeHead);
  const int32_t dim = table.head_dim();
  ForEachRow(pool, rows, int64_t{heads} * dim, [&](int64_t row) {
    assert(positions[row] >= 0 && positions[row] < table.max_positions());
    const float* const cosines = table.cosines(positions[row]);
    const float* const sines = table.sines(positions[row]);
    for (int32_t head = 0; head < heads; ++head) {
      rotate(cosines, sines, dim / 2, x + row * row_stride + int64_t{head} * dim);
    }
  });
}

void SiluMul(ThreadPool& pool, const float* gate_up, int64_t rows, int64_t dim, float* out) {
  const auto silu = HWY_DYNAMIC_DISPATCH(SiluMulRow);
  // exp makes a float cost several of the other operations'.
  ForEachRow(pool, rows, 4 * dim,
             [&](int64_t row) { silu(gate_up + row * 2 * dim, dim, out + row * dim); });
}

void AddInPlace(ThreadPool& pool, float* x, const float* y, int64_t count) {
  const auto add = HWY_DYNAMIC_DISPATCH(AddRange);
  constexpr int64_t kPiece = kSerialFloats;
  ForEachRow(pool, (count + kPiece - 1) / kPiece, kPiece, [&](int64_t piece) {
    const int64_t begin = piece * kPiece;
    add(x + begin, y + begin, std::min(kPiece, count - begin));
  });
}

}  // namespace kvbench
#endif
