#include "kernels/reference/attention.h"

#include <cassert>
#include <cmath>
#include <vector>

#include "kernels/float16.h"

namespace kvbench {

int64_t KvElementOffset(const KvLayout& layout, const AttentionSequence& sequence, int32_t kv_head,
                        int32_t position) {
  if (layout.block_size == 0) {
    return sequence.base + kv_head * sequence.head_stride + position * layout.token_stride;
  }
  const int64_t block = sequence.blocks[position / layout.block_size];
  return block * layout.block_stride + kv_head * layout.head_stride +
         (position % layout.block_size) * layout.token_stride;
}

double ReadKvElement(const void* pool, KvType type, int64_t index) {
  switch (type) {
    case KvType::kFp16:
      return Fp16ToFloat(static_cast<const uint16_t*>(pool)[index]);
    case KvType::kBf16:
      return Bf16ToFloat(static_cast<const uint16_t*>(pool)[index]);
    case KvType::kInt8:
      return static_cast<const int8_t*>(pool)[index];
    case KvType::kFp32:
      break;
  }
  return static_cast<const float*>(pool)[index];
}

double KvRowScale(const float* scales, KvType type, int64_t offset, int32_t head_dim) {
  return type == KvType::kInt8 ? static_cast<double>(scales[offset / head_dim]) : 1.0;
}

void ReferenceAttentionRow(const AttentionCall& call, int64_t sequence_index, int32_t query,
                           int32_t head, double* out) {
  const AttentionSequence& sequence = call.sequences[static_cast<size_t>(sequence_index)];
  const int32_t keys = sequence.context - sequence.num_queries + query + 1;
  assert(query < sequence.num_queries && keys > 0);
  const int32_t kv_head = head / (call.num_heads / call.num_kv_heads);
  const int64_t row_stride =
      call.q_row_stride != 0 ? call.q_row_stride : int64_t{call.num_heads} * call.head_dim;
  const float* const q =
      call.q + (sequence.first_query + query) * row_stride + int64_t{head} * call.head_dim;

  std::vector<double> weights(static_cast<size_t>(keys));
  double largest = -INFINITY;
  for (int32_t key = 0; key < keys; ++key) {
    const int64_t offset = KvElementOffset(call.layout, sequence, kv_head, key);
    double score = 0;
    for (int32_t i = 0; i < call.head_dim; ++i) {
      score += static_cast<double>(q[i]) * ReadKvElement(call.k, call.kv_type, offset + i);
    }
    score *= KvRowScale(call.k_scales, call.kv_type, offset, call.head_dim);
    weights[static_cast<size_t>(key)] = score * static_cast<double>(call.scale);
    largest = std::fmax(largest, weights[static_cast<size_t>(key)]);
  }
  double sum = 0;
  for (double& weight : weights) {
    weight = std::exp(weight - largest);
    sum += weight;
  }
  for (int32_t i = 0; i < call.head_dim; ++i) out[i] = 0;
  for (int32_t key = 0; key < keys; ++key) {
    const int64_t offset = KvElementOffset(call.layout, sequence, kv_head, key);
    const double weight = weights[static_cast<size_t>(key)] / sum *
                          KvRowScale(call.v_scales, call.kv_type, offset, call.head_dim);
    for (int32_t i = 0; i < call.head_dim; ++i) {
      out[i] += weight * ReadKvElement(call.v, call.kv_type, offset + i);
    }
  }
}

void ReferenceAttention(const AttentionCall& call, double* out) {
  for (size_t i = 0; i < call.sequences.size(); ++i) {
    const AttentionSequence& sequence = call.sequences[i];
    for (int32_t query = 0; query < sequence.num_queries; ++query) {
      for (int32_t head = 0; head < call.num_heads; ++head) {
        const int64_t row = (sequence.first_query + query) * call.num_heads + head;
        ReferenceAttentionRow(call, static_cast<int64_t>(i), query, head,
                              out + row * call.head_dim);
      }
    }
  }
}

}  // namespace kvbench
