#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/attention.h"
#include "kernels/cpu/buffer.h"
#include "kernels/kv_layout.h"

namespace kvbench {

/// A table of standard normals, drawn once and read from anywhere: cases need millions.
class NormalTable {
 public:
  NormalTable();
  /// `count` values from a place that `random` picks.
  std::span<const float> Draw(size_t count, std::mt19937_64& random) const;

 private:
  std::vector<float> values_;
};

/// What a random attention case is made of.
struct AttentionCaseSpec {
  KvType kv_type = KvType::kFp16;
  int32_t block_size = 0;  ///< 0: contiguous
  HeadStride head_stride = HeadStride::kPadded;
  int32_t group = 1;
  int32_t num_kv_heads = 1;
  int32_t head_dim = 64;
  struct Sequence {
    int32_t context = 1;
    int32_t num_queries = 1;
  };
  std::vector<Sequence> sequences;

  std::string ToString() const;
};

/// A call with its memory. Blocks are shuffled; all that the sequences do not own is NaN: pool
/// slots (of kInt8 their scales), spare tokens, the gaps between rows of q. Rows of out that belong
/// to no query hold a value that must stay.
class AttentionCase {
 public:
  AttentionCase(const AttentionCaseSpec& spec, const NormalTable& normals, std::mt19937_64& random);

  const AttentionCall& call() const { return call_; }
  const std::vector<AttentionSequence>& sequences() const { return sequences_; }
  int64_t rows() const { return rows_; }
  /// Bytes of K (and of V).
  int64_t pool_bytes() const { return pool_elements_ * KvTypeBytes(call_.kv_type); }
  int64_t q_floats() const { return static_cast<int64_t>(q_.size()); }
  int64_t pool_elements() const { return pool_elements_; }

  /// Relative error max|a-b| / max|b| of one output row; NaN if the output is.
  double RowError(int64_t sequence, int32_t query, int32_t head) const;
  /// The largest of `samples` random rows and every sequence's last; all rows when there are no
  /// more than that.
  double LargestError(int samples, std::mt19937_64& random) const;
  /// Whether the output's guard rows are untouched.
  bool GuardsIntact() const;
  void ClearOutput();

 private:
  void PlaceSequences(const AttentionCaseSpec& spec, std::mt19937_64& random);
  void FillPools(const AttentionCaseSpec& spec, const NormalTable& normals,
                 std::mt19937_64& random);

  AttentionCall call_;
  std::vector<AttentionSequence> sequences_;
  std::vector<std::vector<int32_t>> blocks_;
  std::vector<float> q_;
  std::vector<float> out_;
  std::vector<uint8_t> k_;
  std::vector<uint8_t> v_;
  std::vector<float> k_scales_;
  std::vector<float> v_scales_;
  int64_t rows_ = 0;
  int64_t pool_elements_ = 0;
};

}  // namespace kvbench
