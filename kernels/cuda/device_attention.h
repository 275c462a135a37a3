#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/attention.h"
#include "kernels/cuda/attention_params.h"
#include "kernels/cuda/attention_plan.h"
#include "kernels/cuda/device.h"

namespace kvbench {

/// What attention of a model is, whatever the step.
struct DeviceAttentionShape {
  KvType kv_type = KvType::kFp16;  ///< kFp16 or kBf16
  int32_t num_heads = 0;
  int32_t num_kv_heads = 0;
  int32_t head_dim = 0;  ///< 64, 128 or 256
  float scale = 0;       ///< usually 1 / sqrt(head_dim)
  KvLayout layout;
  /// Kernel of decodes: tensor cores from groups of 4 on, unless a choice is forced.
  enum class Decode { kAuto, kCores, kMma } decode = Decode::kAuto;
  int32_t cores_stages = 2;
  /// Room for plans: CTAs to fill the device with; 0: what it holds at once.
  int32_t cta_budget = 0;
};

/// What kernels are told of one layer, without the plan's part of it (blocks, sequences, items). A
/// q_row_stride of 0 stands for num_heads * head_dim.
AttentionParams ParamsOf(const DeviceAttentionShape& shape, const float* q, int64_t q_row_stride,
                         float* out, const void* k, const void* v);

/// Attention of a step on a device: plan and upload once, then run for each layer.
class DeviceAttention {
 public:
  /// Throws std::invalid_argument for what has no kernel, saying what there is.
  DeviceAttention(Device& device, const DeviceAttentionShape& shape);

  /// Elements of what plans and partial results take on the device.
  struct ArraySizes {
    int64_t sequences = 0;
    int64_t items = 0;
    int64_t blocks = 0;
    int64_t merges = 0;
    int64_t partial_out = 0;
    int64_t partial_lse = 0;
    /// Bytes of all, each rounded up to whole units.
    int64_t bytes(int64_t unit) const;
  };
  /// For steps of at most so many sequences, tokens, and blocks of all sequences.
  ArraySizes SizesFor(int64_t sequences, int64_t tokens, int64_t blocks) const;
  /// Allocates them, so that no step of those sizes has to. Throws DeviceMemoryError.
  void Reserve(const ArraySizes& sizes);

  /// Plans a step and uploads what kernels need to know of it.
  void Plan(std::span<const AttentionSequence> sequences);

  /// One layer. @param q [rows, num_heads, head_dim], rows q_row_stride floats apart. @param out
  /// [rows, num_heads, head_dim]; both on the device, as the pools k and v.
  void Run(const float* q, int64_t q_row_stride, float* out, const void* k, const void* v);

  const DeviceAttentionPlan& plan() const { return plan_; }
  const std::string& decode_kernel() const { return decode_->name; }

 private:
  int32_t HeadTiles(int32_t rows) const;

  Device& device_;
  DeviceAttentionShape shape_;
  int32_t group_;
  const Kernel* decode_;
  const Kernel* prompt_;
  const Kernel* merge_;
  int32_t decode_rows_ = 0;  // query heads of a CTA
  int32_t prompt_rows_ = 0;
  int32_t cta_budget_ = 0;
  DeviceAttentionPlan plan_;
  DeviceArray<DeviceSequence> sequences_;
  DeviceArray<DeviceItem> items_;
  DeviceArray<int32_t> blocks_;
  DeviceArray<DeviceMerge> merges_;
  DeviceArray<float> partial_out_;
  DeviceArray<float> partial_lse_;
};

}  // namespace kvbench
