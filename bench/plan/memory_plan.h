#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/hardware/hardware.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

struct MemoryPlanInput {
  ModelShape model = {};
  Hardware hardware = {};
  int64_t tensor_parallel = 1;  ///< devices that share the model
  Dtype dtype = Dtype::kFp16;   ///< of the weights and the activations
  Dtype kv_cache_dtype = Dtype::kFp16;
  double utilization = 0.95;                   ///< share of the memory that may be used
  int64_t workspace_bytes = int64_t{1} << 30;  ///< of libraries
  int64_t max_num_batched_tokens = 2560;       ///< tokens of the largest step
  int64_t max_model_len = 0;                   ///< tokens, 0: the model's
  int32_t block_size = 16;                     ///< slots
  int64_t memory_bytes = 0;                    ///< in place of the hardware's, 0: the hardware's

  int64_t device_memory_bytes() const {
    return memory_bytes > 0 ? memory_bytes : hardware.memory_bytes;
  }
  int64_t model_len() const {
    return max_model_len > 0 ? max_model_len : model.max_position_embeddings;
  }
};

/// One line of the sum; what is taken away is negative.
struct MemoryLine {
  std::string label;
  int64_t bytes = 0;
};

/// Where the memory of one device goes and what its KV cache then holds.
struct MemoryPlan {
  std::vector<MemoryLine> lines;  ///< add up to kv_bytes
  int64_t usable_bytes = 0;       ///< utilization x memory
  int64_t weight_bytes = 0;
  int64_t activation_bytes = 0;
  int64_t workspace_bytes = 0;
  int64_t kv_bytes = 0;  ///< left to the KV cache; below 0 the rest alone does not fit

  int64_t kv_bytes_per_token = 0;  ///< on one device, over all layers, none dropping tokens
  int64_t sequence_bytes = 0;      ///< on one device, of max_model_len tokens in whole blocks
  /// Blocks and slots where every sequence has max_model_len tokens. Without sliding windows they
  /// do not depend on the lengths.
  int64_t blocks = 0;
  int64_t slots = 0;
  int64_t sequences = 0;           ///< of max_model_len tokens at once, in whole blocks
  double concurrency = 0;          ///< slots / max_model_len, as vLLM prints it
  std::vector<std::string> notes;  ///< sentences on what is held more than once or not at all

  int64_t short_by_bytes() const { return kv_bytes < 0 ? -kv_bytes : 0; }
};

/// The memory plan of the vLLM paper's artifact (table 1 of the paper), per device:
///   utilization x memory - weights - activations - workspace.
/// Weights: what tensor parallelism divides and what every device holds whole (CountParameters).
/// Activations, for B batched tokens, hidden size H and vocabulary V, which is not divided:
///   max(2 x (max(3 B H, B x FFN) / TP + B H), 2 x B x V) elements of at least 2 bytes.
/// A negative rest is an answer, no error. Throws Error where the heads do not divide by
/// `tensor_parallel` or a size is past 2^62 bytes.
MemoryPlan PlanMemory(const MemoryPlanInput& input);

/// The model as one device's KV cache sees it: KV heads / tensor_parallel of them, one where there
/// are fewer heads than devices (a head is then on several devices); the latent of MLA is whole on
/// every device. Throws Error where query or KV heads do not divide.
ModelShape DeviceShape(const ModelShape& model, int64_t tensor_parallel);

/// Bytes of a device's KV cache that one sequence of `slots` slots takes: KvBytesForContext of the
/// device's share.
int64_t DeviceKvBytes(const MemoryPlanInput& input, int64_t slots);

/// How many slots the KV cache has when every sequence holds `held` of them; sliding-window layers
/// make long sequences cheaper a slot. 0 where nothing is left for the KV cache.
int64_t SlotsForSequencesOf(const MemoryPlanInput& input, const MemoryPlan& plan, int64_t held);

/// As vLLM prints it: how often a sequence of max_model_len fits into so many blocks.
inline double MaxConcurrency(int64_t blocks, int64_t block_size, int64_t max_model_len) {
  return static_cast<double>(blocks * block_size) / static_cast<double>(max_model_len);
}

}  // namespace kvbench
