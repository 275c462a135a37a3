#pragma once

#include "workloads/models/model_shape.h"

namespace kvbench {

/// A model that the cpu executor runs in no time.
inline ModelShape SmallModel() {
  ModelShape m;
  m.name = "small";
  m.attention = Attention::kGQA;
  m.num_hidden_layers = 2;
  m.hidden_size = 128;
  m.num_attention_heads = 4;
  m.num_key_value_heads = 2;
  m.head_dim = 64;
  m.intermediate_size = 96;
  m.vocab_size = 100;
  m.max_position_embeddings = 512;
  return m;
}

}  // namespace kvbench
