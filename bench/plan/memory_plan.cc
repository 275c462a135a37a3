#include "bench/plan/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "workloads/models/model_parameters.h"

namespace kvbench {
namespace {

__extension__ using Int128 = __int128;

int64_t MultiplyDivide(int64_t a, int64_t b, int64_t divisor) {
  return static_cast<int64_t>(Int128{a} * b / divisor);
}

/// Throws Error for bytes past 2^62, which no machine has.
int64_t CheckedBytes(double bytes, std::string_view what) {
  if (bytes > 0x1p62) {
    throw Error(
        fmt::format("the {} are past 2^62 bytes; is a size of the model or the step wrong?", what));
  }
  return static_cast<int64_t>(bytes);
}

int64_t ActivationBytes(const MemoryPlanInput& input) {
  const auto tokens = static_cast<double>(input.max_num_batched_tokens);
  const auto hidden = static_cast<double>(input.model.hidden_size);
  const auto ffn = static_cast<double>(input.model.intermediate_size);
  const auto vocabulary = static_cast<double>(input.model.vocab_size);
  const double widest =
      tokens * std::max(3 * hidden, ffn) / static_cast<double>(input.tensor_parallel);
  const double elements = std::max(2 * (widest + tokens * hidden), 2 * tokens * vocabulary);
  // 8-bit weights compute in 16 bits.
  return CheckedBytes(elements * std::max(2, DtypeBytes(input.dtype)), "activations");
}

int64_t RoundUp(int64_t tokens, int64_t block_size) {
  return (tokens + block_size - 1) / block_size * block_size;
}

void AddNotes(const MemoryPlanInput& input, MemoryPlan& plan) {
  const ModelShape& model = input.model;
  const int64_t devices = input.tensor_parallel;
  if (devices > 1 && model.attention == Attention::kMLA) {
    plan.notes.push_back(fmt::format(
        "The latent of MLA has no heads to divide: each of the {} devices holds all of it.",
        devices));
  } else if (devices > model.num_key_value_heads) {
    plan.notes.push_back(fmt::format("{} devices share {} KV head{}: each head is on {} of them.",
                                     devices, model.num_key_value_heads,
                                     model.num_key_value_heads == 1 ? "" : "s",
                                     devices / model.num_key_value_heads));
  }
  if (model.num_sliding_window_layers > 0) {
    plan.notes.push_back(
        fmt::format("{} of {} layers keep the last {} tokens only; slots are counted for sequences "
                    "of {} tokens.",
                    model.num_sliding_window_layers, model.num_hidden_layers,
                    Thousands(model.sliding_window), Thousands(input.model_len())));
  }
}

}  // namespace

ModelShape DeviceShape(const ModelShape& model, int64_t tensor_parallel) {
  const auto fail = [&](std::string_view heads, int64_t count, std::string_view right) {
    throw Error(fmt::format("--tensor-parallel-size {}: {} {} of {} do not divide by it; {}",
                            tensor_parallel, count, heads, model.name, right));
  };
  if (model.num_attention_heads % tensor_parallel != 0) {
    fail("query heads", model.num_attention_heads, "give a divisor of the heads");
  }
  ModelShape device = model;
  if (model.attention == Attention::kMLA) {
    return device;
  }
  const int64_t heads = model.num_key_value_heads;
  if (std::max(heads, tensor_parallel) % std::min(heads, tensor_parallel) != 0) {
    fail("KV heads", heads, "give a divisor or a multiple of the heads");
  }
  device.num_key_value_heads = std::max(int64_t{1}, heads / tensor_parallel);
  return device;
}

int64_t DeviceKvBytes(const MemoryPlanInput& input, int64_t slots) {
  return KvBytesForContext(DeviceShape(input.model, input.tensor_parallel), input.kv_cache_dtype,
                           slots);
}

int64_t SlotsForSequencesOf(const MemoryPlanInput& input, const MemoryPlan& plan, int64_t held) {
  return plan.kv_bytes <= 0 ? 0 : MultiplyDivide(plan.kv_bytes, held, DeviceKvBytes(input, held));
}

MemoryPlan PlanMemory(const MemoryPlanInput& input) {
  const ModelShape device = DeviceShape(input.model, input.tensor_parallel);
  const int64_t memory = input.device_memory_bytes();
  MemoryPlan plan;
  plan.usable_bytes = static_cast<int64_t>(input.utilization * static_cast<double>(memory));
  plan.weight_bytes =
      ParametersPerDevice(input.model, input.tensor_parallel) * DtypeBytes(input.dtype);
  plan.activation_bytes = ActivationBytes(input);
  plan.workspace_bytes = input.workspace_bytes;
  plan.kv_bytes =
      plan.usable_bytes - plan.weight_bytes - plan.activation_bytes - plan.workspace_bytes;
  plan.lines = {{"memory", memory},
                {fmt::format("left to others ({:.4g} %)", 100 * (1 - input.utilization)),
                 plan.usable_bytes - memory},
                {fmt::format("weights, {}", DtypeName(input.dtype)), -plan.weight_bytes},
                {fmt::format("activations of {} tokens", Thousands(input.max_num_batched_tokens)),
                 -plan.activation_bytes},
                {"workspace", -plan.workspace_bytes}};

  plan.kv_bytes_per_token = KvBytesPerToken(device, input.kv_cache_dtype);
  const int64_t sequence_slots = RoundUp(input.model_len(), input.block_size);
  plan.sequence_bytes = KvBytesForContext(device, input.kv_cache_dtype, sequence_slots);
  plan.blocks = SlotsForSequencesOf(input, plan, sequence_slots) / input.block_size;
  plan.slots = plan.blocks * input.block_size;
  plan.sequences = plan.slots / sequence_slots;
  plan.concurrency = MaxConcurrency(plan.blocks, input.block_size, input.model_len());
  AddNotes(input, plan);
  return plan;
}

}  // namespace kvbench
