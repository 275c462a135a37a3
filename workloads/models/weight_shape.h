#pragma once

#include <cstdint>

namespace kvbench {

/// What the number of weights depends on beyond the sizes of a ModelShape. The defaults are those
/// of Llama: gated MLP, RMS norms, no biases, input and output embedding apart.
struct WeightShape {
  bool gated_mlp = true;         ///< three matrices an MLP, otherwise two
  bool tied_embedding = false;   ///< the head is the token embedding
  bool qkv_bias = false;         ///< of the query, key and value projections
  bool output_bias = false;      ///< of the attention's output projection
  bool mlp_bias = false;         ///< of the MLP, or of every expert and the router
  bool head_bias = false;        ///< of an untied head
  bool norm_bias = false;        ///< layer norms (weight and bias), otherwise RMS norms
  bool embedding_norm = false;   ///< one more norm behind the token embedding
  bool qk_norm = false;          ///< norms of head_dim on queries and keys
  bool attention_sinks = false;  ///< one learned number for each query head
  int64_t norms_per_layer = 2;
  /// Rows of a learned position embedding beyond max_position_embeddings; -1: there is none.
  int64_t extra_position_rows = -1;

  int64_t q_lora_rank = 0;  ///< MLA: rank of the query projection, 0: one full matrix
  int64_t v_head_dim = 0;   ///< MLA: width of a value head

  // Models with num_experts > 0.
  int64_t moe_intermediate_size = 0;  ///< of one expert, 0: intermediate_size
  int64_t shared_expert_size = 0;     ///< FFN size of what every token passes besides its experts
  int64_t num_dense_layers = 0;       ///< layers with an MLP of intermediate_size, no experts
  int64_t num_experts_per_tok = 0;    ///< experts that a token passes, 0: unknown (all are counted)
};

}  // namespace kvbench
