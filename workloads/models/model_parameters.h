#pragma once

#include <cstdint>

#include "workloads/models/model_shape.h"

namespace kvbench {

/// How many weights a model has, by how tensor parallelism holds them. Multi-token-prediction
/// layers and vision towers are not counted.
struct ModelParameters {
  /// Matrices that are split over the devices: query and output projections, MLP, router, token
  /// embedding and head.
  int64_t divided = 0;
  int64_t experts = 0;  ///< the routed experts' matrices, also split
  /// Key and value projections: split by KV heads, and repeated where a device would get less than
  /// one head.
  int64_t key_value = 0;
  /// On every device: biases, norms, position embedding, the down-projections of MLA.
  int64_t whole = 0;

  int64_t total() const { return divided + experts + key_value + whole; }
};

/// Counts exactly what the shape says; for OPT that is the count of the vLLM paper's memory
/// figures: per layer 4 H^2 + 2 H FFN in matrices and 13 H (FFN = 4 H) in biases and norms, V x H
/// of token embedding that is also the head, 2,050 x H of position embedding. Throws Error past
/// 10^15.
ModelParameters CountParameters(const ModelShape& model);

/// What one of `tensor_parallel` devices holds, rounded up. Precondition: tensor_parallel >= 1.
int64_t ParametersPerDevice(const ModelShape& model, int64_t tensor_parallel);

/// The share of the routed experts' weights that a step of so many tokens reads when tokens pick
/// their experts evenly and independently: 1 - (1 - num_experts_per_tok / num_experts)^tokens. 1
/// for dense models.
double ExpectedExpertShare(const ModelShape& model, int64_t tokens);

/// The same from the share of the experts that one token leaves out: 1 - left_out^tokens, by
/// squaring.
double ExpertShare(double left_out, int64_t tokens);

}  // namespace kvbench
