#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/thread_pool.h"

namespace kvbench {

/// The small operations of a decoder layer, fp32, in parallel over rows.

/// out[r, i] = x[r, i] / sqrt(mean(x[r]^2) + epsilon) * weight[i]. x and out: [rows, dim], may be
/// the same.
void RmsNorm(ThreadPool& pool, const float* x, const float* weight, int64_t rows, int64_t dim,
             float epsilon, float* out);

/// Cosines and sines of rotary embedding: angle(position, i) = position * theta^(-2i / head_dim), i
/// < head_dim / 2.
class RopeTable {
 public:
  RopeTable(int32_t head_dim, int32_t max_positions, double theta = 10000.0);

  int32_t head_dim() const { return head_dim_; }
  int32_t max_positions() const { return max_positions_; }
  const float* cosines(int32_t position) const { return &cosines_[Offset(position)]; }
  const float* sines(int32_t position) const { return &sines_[Offset(position)]; }

 private:
  size_t Offset(int32_t position) const {
    return static_cast<size_t>(position) * static_cast<size_t>(head_dim_ / 2);
  }

  int32_t head_dim_;
  int32_t max_positions_;
  std::vector<float> cosines_;  // [max_positions, head_dim / 2]
  std::vector<float> sines_;
};

/// Rotates x in place, NeoX style: dimension i of the first half pairs with i of the second.
/// @param x [rows, heads, head_dim], rows `row_stride` floats apart
/// @param positions [rows], each below table.max_positions()
void ApplyRope(ThreadPool& pool, const RopeTable& table, float* x, int64_t rows, int32_t heads,
               int64_t row_stride, const int32_t* positions);

/// out[r, i] = silu(gate[r, i]) * up[r, i], silu(g) = g / (1 + exp(-g)).
/// @param gate_up [rows, 2 * dim]: gate, then up
/// @param out [rows, dim]
void SiluMul(ThreadPool& pool, const float* gate_up, int64_t rows, int64_t dim, float* out);

/// x[i] += y[i] for i < count.
void AddInPlace(ThreadPool& pool, float* x, const float* y, int64_t count);

}  // namespace kvbench
