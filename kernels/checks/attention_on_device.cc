#include "kernels/checks/attention_on_device.h"

#include <span>

#include "kernels/cuda/device_vllm_v1.h"

namespace kvbench {

namespace {

int64_t OutFloats(const AttentionCase& c) {
  return c.rows() * c.call().num_heads * c.call().head_dim;
}

}  // namespace

AttentionOnDevice::AttentionOnDevice(Device& device, const AttentionCase& c)
    : device_(device),
      case_(c),
      q_(device, c.q_floats(), "q"),
      out_(device, OutFloats(c), "out"),
      k_(device, c.pool_bytes(), "K pool"),
      v_(device, c.pool_bytes(), "V pool") {
  const auto pool = [&](const void* bytes) {
    return std::span(static_cast<const uint8_t*>(bytes), static_cast<size_t>(c.pool_bytes()));
  };
  q_.Upload(std::span(c.call().q, static_cast<size_t>(c.q_floats())));
  k_.Upload(pool(c.call().k));
  v_.Upload(pool(c.call().v));
}

void AttentionOnDevice::Run(DeviceAttentionShape::Decode decode, int32_t cta_budget,
                            int32_t cores_stages) {
  DeviceAttentionShape shape = Shape();
  shape.decode = decode;
  shape.cores_stages = cores_stages;
  shape.cta_budget = cta_budget;
  RunBy<DeviceAttention>(shape);
}

void AttentionOnDevice::RunVllmV1() { RunBy<DeviceVllmV1>(Shape()); }

DeviceAttentionShape AttentionOnDevice::Shape() const {
  const AttentionCall& call = case_.call();
  return {.kv_type = call.kv_type,
          .num_heads = call.num_heads,
          .num_kv_heads = call.num_kv_heads,
          .head_dim = call.head_dim,
          .scale = call.scale,
          .layout = call.layout};
}

template <typename Attention>
void AttentionOnDevice::RunBy(const DeviceAttentionShape& shape) {
  const AttentionCall& call = case_.call();
  Attention attention(device_, shape);
  decode_kernel_ = attention.decode_kernel();
  device_.Fill(out_.data(), 0xff, static_cast<size_t>(out_.count()) * sizeof(float));
  attention.Plan(call.sequences);
  attention.Run(q_.data(), call.q_row_stride, out_.data(), k_.data(), v_.data());
  out_.Download(std::span(call.out, static_cast<size_t>(out_.count())));
}

}  // namespace kvbench
