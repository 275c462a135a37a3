#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/attention.h"
#include "kernels/cpu/attention_plan.h"

namespace kvbench {

/// Keys between two rescalings of the online softmax, when K and V are read where they lie.
constexpr int32_t kKeyTile = 64;
/// Room after a row of scores for vectors that end beyond it.
constexpr int32_t kScorePad = 16;

/// Keys of a tile that is converted to fp32 first, [head_dim, keys] and [keys, head_dim]: both in
/// the first-level cache.
constexpr int32_t ConvertedTile(int32_t head_dim) { return head_dim <= 96 ? 64 : 32; }

/// What an attention item works in: the heads of a chunk keep their queries and running results
/// side by side. Floats.
class AttentionWorkspace {
 public:
  /// Heads that are worked together: all of them for a decode, so that blocks are read whole; few
  /// for a prompt's tile, whose state would push everything else out of the second-level cache.
  static int32_t HeadChunk(const AttentionCall& call, int64_t rows) {
    const int64_t heads = kStateFloats / (rows * HeadFloats(call.head_dim));
    return static_cast<int32_t>(std::clamp<int64_t>(heads, 1, call.num_kv_heads));
  }

  /// Floats that items of at most `rows` rows (queries * group) a KV head need.
  static int64_t Floats(const AttentionCall& call, int64_t rows) {
    const int64_t chunk = rows * HeadFloats(call.head_dim);
    const int64_t state = std::max(chunk, std::min(kStateFloats, chunk * call.num_kv_heads));
    return state + 2 * int64_t{call.head_dim} * ConvertedTile(call.head_dim) + kAlign;
  }

  AttentionWorkspace(float* memory, int64_t rows, int32_t heads, int32_t head_dim)
      : q_(memory),
        out_(q_ + heads * rows * head_dim),
        keys_(out_ + heads * rows * head_dim),
        values_(keys_ + int64_t{head_dim} * ConvertedTile(head_dim)),
        scores_(values_ + int64_t{head_dim} * ConvertedTile(head_dim)),
        largest_(scores_ + heads * rows * kScoreRow),
        sum_(largest_ + heads * rows),
        factors_(sum_ + heads * rows) {}

  static constexpr int64_t kScoreRow = kKeyTile + kScorePad;

  float* q() const { return q_; }        ///< [heads, rows, head_dim], scaled
  float* out() const { return out_; }    ///< [heads, rows, head_dim], not yet divided by the sum
  float* keys() const { return keys_; }  ///< [head_dim, tile]
  float* values() const { return values_; }    ///< [tile, head_dim]
  float* scores() const { return scores_; }    ///< [heads, rows, kScoreRow]
  float* largest() const { return largest_; }  ///< [heads, rows] largest score so far
  float* sum() const { return sum_; }          ///< [heads, rows] sum of exp(score - largest)
  float* factors() const { return factors_; }  ///< [rows] what a tile multiplies earlier results by

 private:
  static constexpr int64_t kStateFloats = 48 * 1024;  // 192 KiB
  static constexpr int64_t kAlign = 64;
  static constexpr int64_t HeadFloats(int64_t head_dim) { return 2 * head_dim + kScoreRow + 3; }

  float* q_;
  float* out_;
  float* keys_;
  float* values_;
  float* scores_;
  float* largest_;
  float* sum_;
  float* factors_;
};

/// Where the partial results of split items go until they are merged.
struct AttentionPartials {
  float* out = nullptr;      ///< [partial_rows, head_dim], not divided by the sum
  float* largest = nullptr;  ///< [partial_rows]; -inf: the item saw no key
  float* sum = nullptr;      ///< [partial_rows]
};

/// Merges the partial results of one output row: partial rows first_row, first_row + row_stride,
/// ... `pieces` of them. Pieces that saw no key count for nothing; if none saw any, the row is 0.
/// @param out [head_dim]
void MergePartialRow(const AttentionPartials& partials, int64_t first_row, int64_t row_stride,
                     int32_t pieces, int32_t head_dim, float* out);

}  // namespace kvbench
