#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bench/engine/step_batch.h"
#include "bench/executors/device_pools.h"
#include "bench/executors/measured_executor.h"
#include "bench/executors/phase_marks.h"
#include "bench/executors/ranges.h"
#include "kernels/attention.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/device_attention.h"
#include "kernels/cuda/device_kv_write.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

/// The decoder of decoder.h on a device: the same tokens, dummy weights (rounded to 16 bits), RoPE
/// and noise. Hidden states and results of dense layers are fp32, what dense layers read has the
/// weights' 16-bit type.
class DeviceDecoder {
 public:
  struct Config {
    ModelShape model;
    bool dense = true;
    bool bf16 = false;          ///< weights, and what dense layers read: bf16, or fp16
    int64_t max_tokens = 0;     ///< of a step
    int64_t max_sequences = 0;  ///< of a step
    int64_t max_positions = 0;  ///< of a sequence
    int64_t max_blocks = 0;     ///< of all sequences, paged designs
    Ranges* ranges = nullptr;   ///< where steps say what they do; may be null
  };

  /// `device` and `pools` must outlive it. Throws DeviceMemoryError.
  DeviceDecoder(Device& device, const Config& config, DevicePools& pools);

  /// Bytes that such a decoder allocates on the device.
  static int64_t Bytes(Device& device, const Config& config, const KvPlacement& placement);
  int64_t weight_bytes() const { return weight_bytes_; }
  /// On the device: [entries of the last step that generate, vocabulary]; without dense layers
  /// null.
  const float* logits() const { return logits_.data(); }

  /// Runs a step's tokens through all layers, and returns when the device has done it. `sequences`
  /// says where the entries lie in the pools. `after_attention` is called when a layer's attention
  /// has been given to the device (it may be empty): the call's pointers are the device's. Where
  /// `phases` is there, the times spent are added to it; to take them costs some, too.
  void Run(const StepBatch& batch, std::span<const AttentionSequence> sequences,
           const std::function<void(const AttentionCall&)>& after_attention, StepPhases* phases);

 private:
  struct Weights {
    DeviceArray<uint16_t> data;  // [out, in]
    int64_t in = 0;
    int64_t out = 0;
  };
  struct Layer {
    Weights qkv;
    Weights output;
    Weights gate_up;
    Weights down;
  };
  struct Kernels {
    const Kernel* embed;
    const Kernel* norm;
    const Kernel* add_norm;
    const Kernel* rope;
    const Kernel* convert;
    const Kernel* silu_mul;
  };

  Weights MakeWeights(int64_t in, int64_t out, uint64_t seed);
  void MakeLayers();
  void Upload(const StepBatch& batch);
  void RunLayers(const StepBatch& batch, std::span<const AttentionSequence> sequences,
                 const std::function<void(const AttentionCall&)>& after_attention);
  void Attend(int64_t layer, std::span<const AttentionSequence> sequences, const float* qkv,
              const std::function<void(const AttentionCall&)>& after_attention);
  void Dense(const Weights& weights, const DeviceArray<uint16_t>& in, int64_t rows,
             DeviceArray<float>& out);
  /// normed = norm(hidden), of `rows` rows or those in last_rows_; with `add` hidden += projected
  /// before.
  void Norm(int64_t rows, bool add, bool last_rows = false);
  void Rope(int64_t rows);

  Device& device_;
  Config config_;
  DevicePools& pools_;
  DeviceAttention attention_;
  DeviceKvWrite kv_write_;
  PhaseMarks marks_;
  Kernels kernels_;
  int64_t qkv_width_;
  int64_t attended_width_;
  int64_t weight_bytes_ = 0;
  uint64_t step_ = 0;
  int64_t step_blocks_ = 0;  // that its sequences' contexts lie in; counted for ranges only

  std::vector<Layer> layers_;
  Weights lm_head_;
  DeviceArray<float> norm_weight_;    // [hidden], ones
  DeviceArray<float> embedding_;      // [vocab, hidden]
  DeviceArray<float> cosines_;        // [max_positions, head_dim / 2]
  DeviceArray<float> sines_;          // likewise
  DeviceArray<float> noise_;          // without dense layers: [max_tokens + kNoiseRows, qkv width]
  DeviceArray<float> hidden_;         // [max_tokens, hidden]
  DeviceArray<uint16_t> normed_;      // [max_tokens, hidden]
  DeviceArray<float> qkv_;            // [max_tokens, qkv width]
  DeviceArray<float> attended_;       // [max_tokens, heads * head_dim]
  DeviceArray<uint16_t> attended16_;  // the same, for the dense layer
  DeviceArray<float> projected_;      // [max_tokens, hidden]
  DeviceArray<float> gate_up_;        // [max_tokens, 2 * FFN]
  DeviceArray<uint16_t> activated_;   // [max_tokens, FFN]
  DeviceArray<float> logits_;         // [max_sequences, vocab]
  DeviceArray<int32_t> tokens_;       // [max_tokens]
  DeviceArray<int32_t> positions_;    // [max_tokens]
  DeviceArray<int32_t> last_rows_;    // [max_sequences], of entries that generate
  std::vector<int32_t> host_tokens_;
  std::vector<int32_t> host_positions_;
  std::vector<int32_t> host_last_rows_;
};

}  // namespace kvbench
