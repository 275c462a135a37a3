#include "bench/micro/decode_case.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/float16.h"

namespace kvbench::micro {
namespace {

// Every element the same kind of small number; a repeated pattern is as good as random for a
// reader.
void Fill(Buffer& pool, KvType type, int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) {
    const float value = static_cast<float>(i * 2654435761u % 1000) * 1e-3f - 0.5f;
    if (type == KvType::kFp32) {
      pool.as<float>()[i] = value;
    } else {
      pool.as<uint16_t>()[i] = type == KvType::kFp16 ? FloatToFp16(value) : FloatToBf16(value);
    }
  }
}

}  // namespace

int64_t DecodeCase::PlaceSequences(const DecodeShape& shape) {
  const int32_t block_size = shape.block_size;
  const int32_t blocks_each = block_size == 0 ? 0 : (shape.context + block_size - 1) / block_size;
  const int64_t chunk = (shape.context + kContiguousUnit - 1) / kContiguousUnit * kContiguousUnit;
  blocks_.resize(static_cast<size_t>(blocks_each) * static_cast<size_t>(shape.batch));
  std::iota(blocks_.begin(), blocks_.end(), 0);
  if (shape.shuffled) std::shuffle(blocks_.begin(), blocks_.end(), std::mt19937(1));
  for (int32_t i = 0; i < shape.batch; ++i) {
    AttentionSequence sequence;
    sequence.first_query = i;
    sequence.num_queries = 1;
    sequence.context = shape.context;
    if (block_size == 0) {
      const auto place =
          PlaceContiguous(i * chunk, chunk, shape.num_kv_heads, shape.head_dim, shape.head_stride);
      sequence.base = place.base;
      sequence.head_stride = place.head_stride;
    } else {
      sequence.blocks = blocks_.data() + static_cast<size_t>(i) * static_cast<size_t>(blocks_each);
    }
    sequences_.push_back(sequence);
  }
  if (block_size == 0) {
    attention_.layout = ContiguousLayout(shape.num_kv_heads, shape.head_dim);
    return ContiguousPoolElements(chunk * shape.batch, shape.num_kv_heads, shape.head_dim,
                                  shape.head_stride);
  }
  attention_.layout = PagedLayout(block_size, shape.num_kv_heads, shape.head_dim);
  return PagedPoolElements(attention_.layout, static_cast<int64_t>(blocks_.size()));
}

DecodeCase::DecodeCase(const DecodeShape& shape) {
  const int64_t elements = PlaceSequences(shape);
  const auto bytes = static_cast<size_t>(elements * KvTypeBytes(shape.kv_type));
  k_ = Buffer(bytes);
  v_ = Buffer(bytes);
  Fill(k_, shape.kv_type, elements);
  Fill(v_, shape.kv_type, elements);
  const int32_t heads = shape.num_kv_heads * shape.group;
  const auto row_floats = static_cast<size_t>(shape.batch) * static_cast<size_t>(heads) *
                          static_cast<size_t>(shape.head_dim);
  q_ = Buffer(row_floats * sizeof(float));
  out_ = Buffer(row_floats * sizeof(float));
  Fill(q_, KvType::kFp32, static_cast<int64_t>(row_floats));

  attention_.kv_type = shape.kv_type;
  attention_.num_heads = heads;
  attention_.num_kv_heads = shape.num_kv_heads;
  attention_.head_dim = shape.head_dim;
  attention_.scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
  attention_.q = q_.as<float>();
  attention_.out = out_.as<float>();
  attention_.k = k_.as<void>();
  attention_.v = v_.as<void>();
  attention_.sequences = sequences_;

  write_.kv_type = shape.kv_type;
  write_.num_kv_heads = shape.num_kv_heads;
  write_.head_dim = shape.head_dim;
  write_.k = write_.v = q_.as<float>();  // any numbers: q has at least as many a row
  write_.row_stride = int64_t{heads} * shape.head_dim;
  write_.k_pool = k_.as<void>();
  write_.v_pool = v_.as<void>();
  write_.layout = attention_.layout;
  write_.sequences = sequences_;
}

}  // namespace kvbench::micro
