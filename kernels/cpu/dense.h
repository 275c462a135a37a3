#pragma once

#include <cstdint>
#include <span>

#include "kernels/cpu/buffer.h"
#include "kernels/cpu/thread_pool.h"

namespace kvbench {

/// y[rows, out] = x[rows, in] * W^T with fp32 weights W [out, in], on the caller's pool.
///
/// The weights are packed once into panels of 16 outputs, [out / 16, in, 16], so that any number of
/// rows reads them as one stream and no sum runs across lanes.
class DenseLayer {
 public:
  /// Outputs of a panel.
  static constexpr int64_t kPanel = 16;

  /// Packs a copy of `weights` [out, in]. Throws std::bad_alloc.
  DenseLayer(int64_t in, int64_t out, std::span<const float> weights);
  /// Weights drawn evenly from +-sqrt(3 / in), so that outputs keep the inputs' variance. The same
  /// seed, the same bits.
  DenseLayer(int64_t in, int64_t out, uint64_t seed);

  int64_t in() const { return in_; }
  int64_t out() const { return out_; }
  int64_t weight_bytes() const { return in_ * out_ * 4; }

  /// @param x [rows, in], rows contiguous; @param y [rows, out], rows contiguous, not overlapping x
  void Run(ThreadPool& pool, const float* x, int64_t rows, float* y) const;

 private:
  DenseLayer(int64_t in, int64_t out);
  float& Weight(int64_t out, int64_t in);

  int64_t in_;
  int64_t out_;
  Buffer weights_;
};

}  // namespace kvbench
