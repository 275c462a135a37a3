#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/executors/decoder_layer.h"
#include "kernels/attention.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/buffer.h"
#include "kernels/cpu/dense.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/thread_pool.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

// What the decoder does in one layer, piece by piece, for measuring roofs: the same kernels at the
// same shapes, on memory that is filled beforehand. Each function returns seconds of wall time.

/// Dense layers and the small operations between them, one decoder layer after another, without
/// attention. The small operations find their rows where dense layers have left them.
class LayerWorkload {
 public:
  struct Result {
    double dense_s = 0;        ///< per weight
    double elementwise_s = 0;  ///< of one layer
  };

  /// Weights that no cache holds: as many layers as fill `bytes`. With `model_weights` no more than
  /// the model's own layers and LM head, of which caches hold what they hold in a run's steps.
  /// Throws std::bad_alloc.
  LayerWorkload(const ModelShape& model, WeightType weights, int64_t bytes, bool model_weights,
                int64_t max_rows, ThreadPool& pool);

  /// Runs the next layer, or with the model's own weights and few rows all of them, as the last of
  /// several such steps.
  Result Run(int64_t rows);

 private:
  /// Seconds of phases, added up.
  struct Totals {
    double dense_s = 0;
    double elementwise_s = 0;
    int64_t weights = 0;
    int64_t layers = 0;
  };

  void RunLayer(const DecoderLayer& layer, int64_t rows, Totals& totals);
  void RunDense(const DenseLayer& matrix, const Buffer& x, int64_t rows, Buffer& y, Totals& totals);

  ThreadPool& pool_;
  ModelShape model_;
  int64_t qkv_width_;
  bool whole_ = false;  // runs all layers
  std::vector<DecoderLayer> layers_;
  std::vector<DenseLayer> lm_head_;  // one if whole_
  size_t next_ = 0;
  RopeTable rope_;
  std::vector<int32_t> positions_;
  std::vector<float> norm_weight_;
  Buffer hidden_, normed_, projected_, qkv_, attended_, gate_up_, activated_, logits_;
};

/// KV write and attention of one layer on a working set of KV.
class KvWorkload {
 public:
  /// Sequences that a set of decodes takes its batches from, all of one context.
  struct Decodes {
    Decodes() = default;
    Decodes(Decodes&&) = default;
    Decodes& operator=(Decodes&&) = default;

    KvLayout layout;
    std::vector<int32_t> blocks;
    std::vector<AttentionSequence> sequences;  // point into blocks
    int64_t batch = 0;                         ///< at most a quarter of the sequences
    size_t next = 0;
  };

  static constexpr int32_t kShortContext = 64;
  static constexpr int32_t kLongContext = 512;
  static constexpr int64_t kMaxPrompt = 1024;

  /// Throws std::bad_alloc.
  KvWorkload(const ModelShape& model, KvType type, int64_t bytes,
             const std::vector<int32_t>& block_sizes, ThreadPool& pool);

  /// Sequences with `context` tokens, in chunks of as many or more slots; `block_size` is one that
  /// the constructor was given.
  Decodes MakeDecodes(int32_t block_size, int32_t context) const;

  /// Attention of the next batch; its plan is made before the clock starts, as in a step it is made
  /// once for all layers.
  double Decode(Decodes& decodes);
  /// Writes a token of each sequence of the next batch.
  double Write(Decodes& decodes);
  /// Attention of whole prompts of `tokens` tokens (a multiple of 16), kMaxPrompt tokens together.
  double Prefill(int32_t tokens);
  /// Query heads x visible keys of such a call.
  double PrefillVisible(int32_t tokens) const;

  int64_t token_bytes() const;

 private:
  int32_t PrefillKvHeads() const;
  AttentionCall Call(const KvLayout& layout, int32_t kv_heads) const;
  double Attend(const AttentionCall& call);
  void Write(const KvLayout& layout);
  void TakeBatch(Decodes& decodes, int32_t num_queries);

  ThreadPool& pool_;
  ModelShape model_;
  KvType type_;
  int64_t qkv_width_;
  int64_t slots_;
  CpuAttention attention_;
  AttentionPlan plan_;
  std::vector<AttentionSequence> sequences_;  // of the call being made
  Buffer k_, v_;
  Buffer k_scales_, v_scales_;  // of kInt8
  Buffer noise_;                // [kMaxPrompt, qkv width]
  Buffer out_;                  // [kMaxPrompt, heads * head_dim]
};

}  // namespace kvbench
