#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/attention.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/buffer.h"
#include "kernels/cpu/dense.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/thread_pool.h"
#include "workloads/model_shape.h"

namespace kvbench {

// What the decoder does in one layer, piece by piece, for measuring roofs: the same kernels at the
// same shapes, on memory that is filled beforehand. Each function returns seconds of wall time.

/// The matrices of layers, one layer after another.
class DenseWorkload {
 public:
  /// Weights that no cache holds: as many layers as fill `bytes`. With `model_weights` no more than
  /// the model's own layers and LM head, of which caches hold what they hold in a run's steps.
  /// Throws std::bad_alloc.
  DenseWorkload(const ModelShape& model, int64_t bytes, bool model_weights, int64_t max_rows,
                ThreadPool& pool);

  /// Runs the next layer's matrices, or with the model's own weights and few rows all of them, as
  /// the step after such a step; seconds per weight.
  double Run(int64_t rows);

 private:
  /// Returns the weights gone through.
  int64_t RunLayer(size_t layer, int64_t rows);

  ThreadPool& pool_;
  bool whole_;  // runs all layers
  std::vector<std::vector<DenseLayer>> layers_;
  size_t next_ = 0;
  Buffer x_;  // [max_rows, the widest input]
  Buffer y_;  // [max_rows, the widest output]
};

/// Norms, rotary embedding, activation and residuals.
class ElementwiseWorkload {
 public:
  /// Throws std::bad_alloc.
  ElementwiseWorkload(const ModelShape& model, int64_t max_rows, ThreadPool& pool);

  /// Seconds of one layer, several in a row for few rows.
  double Run(int64_t rows);

 private:
  void RunLayer(int64_t rows);

  ThreadPool& pool_;
  ModelShape model_;
  int64_t qkv_width_;
  RopeTable rope_;
  std::vector<int32_t> positions_;
  std::vector<float> norm_weight_;
  Buffer hidden_, normed_, projected_, qkv_, gate_up_, activated_;
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
  Buffer noise_;  // [kMaxPrompt, qkv width]
  Buffer out_;    // [kMaxPrompt, heads * head_dim]
};

}  // namespace kvbench
