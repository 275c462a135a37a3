#pragma once

#include <cstdint>
#include <span>

#include "kernels/cpu/buffer.h"
#include "kernels/cpu/thread_pool.h"

namespace kvbench {

/// Element type of a dense layer's weights; activations and sums are fp32.
enum class WeightType : int32_t { kFp32, kBf16 };
constexpr int WeightBytes(WeightType type) { return type == WeightType::kBf16 ? 2 : 4; }

/// y[rows, out] = x[rows, in] * W^T with weights W [out, in] in fp32 or bf16, on the caller's pool.
///
/// The weights are packed once into panels of 16 outputs, [out / 16, in, 16], so that any number of
/// rows reads them as one stream and no sum runs across lanes.
///
/// Why no library: measured against OpenBLAS 0.3.21 (serial, called on each thread's slice of the
/// outputs) and oneDNN 2.6.3 (weights packed once, a primitive for each slice), on an AMD EPYC (Zen
/// 3, AVX2), weights from memory, medians of interleaved runs, GB/s of weights (at 256 rows
/// GFLOP/s):
///
///   | in x out, threads  | by          | 1 row | 4    | 8    | 16  | 32  | 64  | 256 | read roof |
///   | 512 x 2816, 1      | this layer  | 11.1  | 8.8  | 6.8  | 5.7 | 3.0 | 2.2 | 74  | 11        |
///   |                    | OpenBLAS    | 8.2   | 3.2  | 3.4  | 2.9 | 2.1 | 1.5 | 63  |           |
///   |                    | oneDNN      | 11.7  | 4.0  | 3.4  | 3.0 | 2.6 | 2.3 | 63  |           |
///   | 512 x 2816, 2      | this layer  | 13.8  | 13.1 | 10.6 | 8.1 | 5.7 | 3.1 | 101 | 15        |
///   |                    | oneDNN      | 12.8  | 6.6  | 5.5  | 5.2 | 4.9 | 3.4 | 105 |           |
///   | 4096 x 11008, 1    | this layer  | 8.5   | 8.3  | 7.0  | 5.1 | 3.2 | 1.7 | 61  | 11        |
///   |                    | OpenBLAS    | 13.0  | 3.0  | 2.7  | 2.4 | 1.9 | 1.3 | 63  |           |
///   |                    | oneDNN      | 9.8   | 3.7  | 3.2  | 3.1 | 2.3 | 1.4 | 54  |           |
///   | 4096 x 11008, 2    | this layer  | 14.6  | 12.7 | 9.9  | 8.9 | 5.2 | 3.6 | 121 | 16        |
///   |                    | oneDNN      | 15.9  | 6.0  | 5.4  | 5.8 | 3.7 | 3.3 | 93  |           |
///
/// On a Zen 5 (AVX-512, one thread reads 41 GB/s, FMA peak 264 GFLOP/s; 4096 x 11008, one thread),
/// GB/s of weights at 1 | 4 | 8 | 16 rows and GFLOP/s at 64:
///
///   | step               | fp32                    | bf16                    |
///   | 0 as on Zen 3      | 39 | 35 | 27 | 16 | 183 | 27 | 21 | 13 | 8  | 183 |
///   | 1 far prefetch     | 39 | 38 | 38 | 22 | 198 | 38 | 39 | 22 | 12 | 201 |
///   | 2 packed rows      | 40 | 38 | 38 | 24 | 204 | 38 | 38 | 26 | 13 | 211 |
///   | 3 blocks           | 40 | 38 | 38 | 30 | 242 | 38 | 39 | 27 | 15 | 250 |
///
/// 1: prefetch 16 KiB ahead instead of 1.5, and sums of their own for up to four inputs where rows
/// are few. 2: rows of x packed, so that those 16 KiB apart do not fight for one set of the
/// first-level cache. 3: up to 16 rows in one block, more with two panels that share each load of
/// x.
///
/// Prefetching makes memory and arithmetic overlap instead of taking turns. What limits now: memory
/// up to 8 rows (bf16: 4), then the fused multiply-adds, at 84 to 92 % of their peak. oneDNN 2.6.3
/// reaches 157 GFLOP/s at 16 rows there, 218 at 64 and 250 at 256 (this layer 243, 242 and
/// 244), and 414 at 64 rows with two threads (this layer 474).
///
/// On Zen 3, from 2 to 32 rows, which decide a decode step, it is 1.15 to 3 times as fast as the
/// better library. From 64 rows on they are within 10 % of each other; one row of a large matrix on
/// one thread is a third slower than OpenBLAS's. OpenBLAS's serial build also gave wrong results in
/// 4 of 40 runs of two threads at once: its Debian package is not built for that.
class DenseLayer {
 public:
  /// Outputs of a panel.
  static constexpr int64_t kPanel = 16;

  /// Packs a copy of `weights` [out, in], rounded to nearest even for kBf16. Throws std::bad_alloc.
  DenseLayer(int64_t in, int64_t out, std::span<const float> weights,
             WeightType type = WeightType::kFp32);
  /// Weights of kernels/dummy_weights.h, rounded to nearest even for kBf16.
  DenseLayer(int64_t in, int64_t out, uint64_t seed, WeightType type = WeightType::kFp32);

  int64_t in() const { return in_; }
  int64_t out() const { return out_; }
  WeightType type() const { return type_; }
  int64_t weight_bytes() const { return in_ * out_ * WeightBytes(type_); }

  /// @param x [rows, in], rows contiguous; @param y [rows, out], rows contiguous, not overlapping x
  void Run(ThreadPool& pool, const float* x, int64_t rows, float* y) const;

 private:
  DenseLayer(int64_t in, int64_t out, WeightType type);
  void Put(int64_t out, int64_t in, float weight);

  int64_t in_;
  int64_t out_;
  WeightType type_;
  Buffer weights_;
};

}  // namespace kvbench
