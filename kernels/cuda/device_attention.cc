#include "kernels/cuda/device_attention.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "kernels/cuda/kernel_names.h"

namespace kvbench {

namespace {

constexpr int32_t kThreads = 128;

int32_t DivideUp(int32_t a, int32_t b) { return (a + b - 1) / b; }

}  // namespace

DeviceAttention::DeviceAttention(Device& device, const DeviceAttentionShape& shape)
    : device_(device), shape_(shape), group_(shape.num_heads / shape.num_kv_heads) {
  if (shape.head_dim != 64 && shape.head_dim != 128 && shape.head_dim != 256) {
    throw std::invalid_argument("the CUDA kernels have head dims 64, 128 and 256, not " +
                                std::to_string(shape.head_dim));
  }
  using Decode = DeviceAttentionShape::Decode;
  const std::string type = DeviceTypeName(shape.kv_type);
  const bool paged = shape.layout.block_size > 0;
  const bool cores =
      shape.decode == Decode::kCores || (shape.decode == Decode::kAuto && group_ < 4);
  if (cores) {
    const int32_t heads = group_ >= 4 ? 4 : group_ >= 2 ? 2 : 1;
    decode_ =
        &device.kernel(DecodeCoresName(type, shape.head_dim, paged, heads, shape.cores_stages));
    decode_rows_ = heads * (kThreads / (shape.head_dim / 8));
  } else {
    decode_rows_ = group_ > 16 ? 32 : 16;
    decode_ = &device.kernel(AttentionMmaName(type, shape.head_dim, paged, decode_rows_));
  }
  prompt_rows_ = 32;
  prompt_ = &device.kernel(AttentionMmaName(type, shape.head_dim, paged, prompt_rows_));
  merge_ = &device.kernel("attention-merge");
  cta_budget_ = shape.cta_budget > 0 ? shape.cta_budget
                                     : device.properties().multiprocessors *
                                           device.ResidentCtas(*decode_, decode_->shared_bytes);
}

int32_t DeviceAttention::HeadTiles(int32_t rows) const { return DivideUp(group_, rows); }

int64_t DeviceAttention::ArraySizes::bytes(int64_t unit) const {
  int64_t sum = 0;
  const auto add = [&](int64_t count, size_t each) {
    const int64_t needed = count * static_cast<int64_t>(each);
    sum += (needed + unit - 1) / unit * unit;
  };
  add(sequences, sizeof(DeviceSequence));
  add(items, sizeof(DeviceItem));
  add(blocks, sizeof(int32_t));
  add(merges, sizeof(DeviceMerge));
  add(partial_out, sizeof(float));
  add(partial_lse, sizeof(float));
  return sum;
}

DeviceAttention::ArraySizes DeviceAttention::SizesFor(int64_t sequences, int64_t tokens,
                                                      int64_t blocks) const {
  // Decodes are spread over as many items as run at once, or are whole.
  const int64_t parts = cta_budget_ / HeadTiles(decode_rows_) / shape_.num_kv_heads;
  const int64_t queries_each = std::max(1, prompt_rows_ / group_);
  return {.sequences = sequences,
          .items = std::max(parts, sequences) + tokens / queries_each + sequences,
          .blocks = shape_.layout.block_size > 0 ? blocks : 0,
          .merges = std::min(parts, sequences),
          .partial_out = parts * shape_.num_heads * shape_.head_dim,
          .partial_lse = parts * shape_.num_heads};
}

void DeviceAttention::Reserve(const ArraySizes& sizes) {
  const auto allocate = [&](auto& array, int64_t count, const char* name) {
    array = {};
    if (count > 0) {
      array = {device_, count, name};
    }
  };
  allocate(sequences_, sizes.sequences, "attention sequences");
  allocate(items_, sizes.items, "attention items");
  allocate(blocks_, sizes.blocks, "block tables");
  allocate(merges_, sizes.merges, "attention merges");
  allocate(partial_out_, sizes.partial_out, "partial outputs");
  allocate(partial_lse_, sizes.partial_lse, "partial sums");
}

void DeviceAttention::Plan(std::span<const AttentionSequence> sequences) {
  plan_.Build(sequences, {.num_heads = shape_.num_heads,
                          .num_kv_heads = shape_.num_kv_heads,
                          .paged = shape_.layout.block_size > 0,
                          .block_size = shape_.layout.block_size,
                          .prompt_rows = prompt_rows_,
                          .cta_budget = cta_budget_ / HeadTiles(decode_rows_)});
  const auto upload = [&](auto& array, auto values, const char* name) {
    array.Reserve(device_, static_cast<int64_t>(values.size()), name);
    array.Upload(values);
  };
  upload(sequences_, plan_.sequences(), "attention sequences");
  upload(items_, plan_.items(), "attention items");
  upload(blocks_, plan_.blocks(), "block tables");
  upload(merges_, plan_.merges(), "attention merges");
  const int64_t rows = plan_.partial_rows();
  partial_out_.Reserve(device_, rows * shape_.num_heads * shape_.head_dim, "partial outputs");
  partial_lse_.Reserve(device_, rows * shape_.num_heads, "partial sums");
}

AttentionParams ParamsOf(const DeviceAttentionShape& shape, const float* q, int64_t q_row_stride,
                         float* out, const void* k, const void* v) {
  AttentionParams params;
  params.q = {q};
  params.q_row_stride =
      q_row_stride != 0 ? q_row_stride : int64_t{shape.num_heads} * shape.head_dim;
  params.out = {out};
  params.k = k;
  params.v = v;
  params.layout = shape.layout;
  params.num_heads = shape.num_heads;
  params.num_kv_heads = shape.num_kv_heads;
  params.scale_log2 = shape.scale * std::numbers::log2e_v<float>;
  return params;
}

void DeviceAttention::Run(const float* q, int64_t q_row_stride, float* out, const void* k,
                          const void* v) {
  AttentionParams params = ParamsOf(shape_, q, q_row_stride, out, k, v);
  params.blocks = blocks_.global();
  params.sequences = sequences_.global();
  params.items = items_.global();
  params.partial_out = partial_out_.global();
  params.partial_lse = partial_lse_.global();
  Launch(device_, *decode_,
         {{plan_.decode_items(), shape_.num_kv_heads * HeadTiles(decode_rows_), 1},
          decode_->shared_bytes},
         params);
  params.items = params.items + plan_.decode_items();
  Launch(device_, *prompt_,
         {{plan_.prompt_items(), shape_.num_kv_heads * HeadTiles(prompt_rows_), 1},
          prompt_->shared_bytes},
         params);
  const AttentionMergeParams merge = {.merges = merges_.global(),
                                      .partial_out = partial_out_.global(),
                                      .partial_lse = partial_lse_.global(),
                                      .out = {out},
                                      .num_heads = shape_.num_heads,
                                      .head_dim = shape_.head_dim};
  Launch(device_, *merge_,
         {{static_cast<int32_t>(plan_.merges().size()),
           DivideUp(shape_.num_heads * shape_.head_dim, 4 * kThreads), 1},
          0},
         merge);
}

}  // namespace kvbench
