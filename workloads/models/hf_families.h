#pragma once

#include <cstdint>
#include <string_view>

#include "workloads/models/weight_shape.h"

namespace kvbench {

/// What the model class of a Hugging Face `model_type` assumes where its config.json leaves a key
/// out, as far as the shape depends on it (the defaults of transformers' configuration classes). 0:
/// the key must be there.
struct HfFamily {
  std::string_view model_type;
  int64_t num_attention_heads = 0;
  int64_t num_key_value_heads = 0;  ///< 0: as many as query heads
  int64_t head_dim = 0;             ///< 0: hidden_size / num_attention_heads
  int64_t vocab_size = 0;
  int64_t max_position_embeddings = 0;
  int64_t ffn_multiple = 0;  ///< intermediate_size in hidden sizes
  bool multi_query = false;  ///< multi_query where absent
  int64_t sliding_window = 0;
  /// Every how-manieth layer is full, the others have the window. 0: all layers have it.
  int64_t full_layer_period = 0;
  bool window_needs_switch = false;  ///< the window counts only with use_sliding_window true
  WeightShape weights = {};
};

/// The family of a model type; one without any defaults for a type it does not know.
HfFamily FindHfFamily(std::string_view model_type);

/// Why models of that type cannot be described by a ModelShape, as half a sentence; empty where
/// they can.
std::string_view WhyUnsupported(std::string_view model_type);

}  // namespace kvbench
