#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/engine/step_batch.h"
#include "bench/executors/decoder_layer.h"
#include "bench/executors/kv_pools.h"
#include "bench/executors/measured_executor.h"
#include "bench/executors/ranges.h"
#include "kernels/attention.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/buffer.h"
#include "kernels/cpu/dense.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/thread_pool.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

/// A weight dtype as the dense layers name it. Precondition: one that they have
/// (CpuExecutor::Check).
WeightType WeightTypeOf(Dtype dtype);

/// A decoder-only transformer on the CPU with dummy weights: embedding, then for each layer
/// RMSNorm, QKV, RoPE, KV write, attention, output projection, RMSNorm, gated MLP; last the LM head
/// for tokens that generate. Without dense layers, attention and KV write run alone, on vectors
/// drawn beforehand.
class Decoder {
 public:
  struct Config {
    ModelShape model;
    bool dense = true;
    WeightType weights = WeightType::kFp32;
    int64_t max_tokens = 0;     ///< of a step
    int64_t max_sequences = 0;  ///< of a step
    int64_t max_positions = 0;  ///< of a sequence
    std::string attention_kernel = "auto";
    Ranges* ranges = nullptr;  ///< where steps say what they do; may be null
  };

  /// Throws std::bad_alloc.
  Decoder(const Config& config, ThreadPool& pool);

  /// Bytes of weights and activations that such a decoder allocates.
  static int64_t Bytes(const Config& config);
  int64_t weight_bytes() const { return weight_bytes_; }
  /// [entries of the last step that generate, vocabulary]; without dense layers null.
  const float* logits() const { return logits_.as<float>(); }

  /// Runs a step's tokens through all layers. `sequences` says where the entries lie in `pools`.
  /// `after_attention` is called after each layer's attention (it may be empty). Adds the time
  /// spent to `phases`.
  void Run(const StepBatch& batch, std::span<const AttentionSequence> sequences, KvPools& pools,
           const std::function<void(const AttentionCall&)>& after_attention, StepPhases& phases);

 private:
  void Embed(const StepBatch& batch);
  void Attend(int64_t layer, std::span<const AttentionSequence> sequences, KvPools& pools,
              const float* qkv, const std::function<void(const AttentionCall&)>& after_attention,
              StepPhases& phases);
  void GatherGenerating(const StepBatch& batch);

  Config config_;
  ThreadPool& pool_;
  CpuAttention attention_;
  AttentionPlan plan_;
  RopeTable rope_;
  int64_t qkv_width_;
  int64_t weight_bytes_ = 0;
  uint64_t step_ = 0;
  int64_t step_blocks_ = 0;  // that its sequences' contexts lie in; counted for ranges only

  std::vector<DecoderLayer> layers_;
  std::vector<DenseLayer> lm_head_;  // one, or none without dense layers
  std::vector<float> norm_weight_;   // [hidden], ones
  Buffer embedding_;                 // [vocab, hidden]
  Buffer noise_;                     // without dense layers: [max_tokens + kNoiseRows, qkv width]
  Buffer hidden_;                    // [max_tokens, hidden]
  Buffer normed_;                    // [max_tokens, hidden]
  Buffer qkv_;                       // [max_tokens, qkv width]
  Buffer attended_;                  // [max_tokens, heads * head_dim]
  Buffer projected_;                 // [max_tokens, hidden]
  Buffer gate_up_;                   // [max_tokens, 2 * FFN]
  Buffer activated_;                 // [max_tokens, FFN]
  Buffer logits_;                    // [max_sequences, vocab]
  std::vector<int32_t> positions_;   // [tokens of the step]
};

}  // namespace kvbench
