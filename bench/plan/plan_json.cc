#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/plan/model_info.h"
#include "bench/plan/plan_report.h"
#include "results/record/json_writer.h"

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json ToJson(const Hardware& hardware) {
  return {{"name", hardware.name},
          {"memory_bytes", hardware.memory_bytes},
          {"memory_bandwidth_bytes_per_s", hardware.memory_bandwidth_bytes_per_s},
          {"dense_flops_per_s", hardware.dense_flops_per_s},
          {"last_level_cache_bytes", hardware.last_level_cache_bytes},
          {"link_bytes_per_s", hardware.link_bytes_per_s},
          {"source", hardware.source}};
}

Json LimitsJson(const PlanReport& report) {
  const MemoryPlanInput& input = report.request.input;
  return {{"tensor_parallel_size", input.tensor_parallel},
          {"gpu_memory_utilization", input.utilization},
          {"max_model_len", input.model_len()},
          {"block_size", input.block_size},
          {"max_num_batched_tokens", input.max_num_batched_tokens}};
}

Json ToJson(const MemoryPlan& plan) {
  Json lines = Json::array();
  for (const MemoryLine& line : plan.lines) {
    lines.push_back({{"label", line.label}, {"bytes", line.bytes}});
  }
  return {{"lines", std::move(lines)},
          {"usable_bytes", plan.usable_bytes},
          {"weight_bytes", plan.weight_bytes},
          {"activation_bytes", plan.activation_bytes},
          {"workspace_bytes", plan.workspace_bytes},
          {"kv_bytes", plan.kv_bytes},
          {"short_by_bytes", plan.short_by_bytes()},
          {"kv_bytes_per_token", plan.kv_bytes_per_token},
          {"sequence_bytes", plan.sequence_bytes},
          {"blocks", plan.blocks},
          {"slots", plan.slots},
          {"sequences", plan.sequences},
          {"concurrency", plan.concurrency},
          {"notes", plan.notes}};
}

Json ToJson(const std::vector<DesignCapacity>& designs) {
  Json array = Json::array();
  for (const DesignCapacity& capacity : designs) {
    array.push_back({{"design", capacity.design},
                     {"requests", capacity.requests},
                     {"more", capacity.more},
                     {"held_slots", capacity.held_slots}});
  }
  return array;
}

Json ToJson(const WhatFits& what) {
  return {{"context", OrNull(what.context)},
          {"batch", OrNull(what.batch)},
          {"kv_cache_dtype",
           what.kv_cache_dtype ? Json(DtypeName(*what.kv_cache_dtype)) : Json(nullptr)},
          {"tensor_parallel_size", OrNull(what.tensor_parallel)}};
}

Json ModelledJson(const PlannedBatch& batch) {
  if (!batch.decode) {
    return nullptr;
  }
  return {{"weight_bytes_read", batch.decode->weight_bytes},
          {"kv_bytes_read", batch.decode->kv_bytes},
          {"step_s", batch.decode->step_s},
          {"output_throughput", batch.decode->output_tokens_per_s},
          {"reached_bandwidth", kReachedBandwidth},
          {"usd_per_million_output_tokens", OrNull(batch.usd_per_million_output_tokens)}};
}

Json ToJson(const PlannedBatch& batch) {
  const BatchFit& fit = batch.fit;
  return {{"batch", fit.batch},
          {"kv_bytes", fit.kv_bytes},
          {"device_kv_bytes", fit.device_kv_bytes},
          {"fits", fit.fits()},
          {"short_by_bytes", fit.short_by_bytes},
          {"designs", fit.designs},
          {"what_fits", fit.fits() ? Json(nullptr) : ToJson(fit.what_fits)},
          {"modelled", ModelledJson(batch)}};
}

Json ToJson(const PlannedContext& context) {
  Json batches = Json::array();
  for (const PlannedBatch& batch : context.batches) {
    batches.push_back(ToJson(batch));
  }
  return {{"context", context.kind.context},
          {"prompt_tokens", context.kind.context - context.kind.output_tokens},
          {"output_tokens", context.kind.output_tokens},
          {"kv_bytes", context.kv_bytes},
          {"designs", ToJson(context.designs)},
          {"batches", std::move(batches)}};
}

Json ToJson(const HeadVariant& variant) {
  return {{"attention", AttentionName(variant.attention)},
          {"num_key_value_heads", variant.num_key_value_heads},
          {"own", variant.own},
          {"device_weight_bytes", variant.weight_bytes},
          {"kv_bytes_per_token", variant.kv_bytes_per_token},
          {"kv_bytes", variant.kv_bytes},
          {"designs", ToJson(variant.designs)}};
}

}  // namespace

Json PlanJson(const PlanReport& report) {
  const MemoryPlanInput& input = report.request.input;
  Json contexts = Json::array();
  for (const PlannedContext& context : report.contexts) {
    contexts.push_back(ToJson(context));
  }
  Json variants = Json::array();
  for (const HeadVariant& variant : report.variants) {
    variants.push_back(ToJson(variant));
  }
  return {{"format", "kvbench plan 1"},
          {"model", ModelJson(DescribeModel(input.model, input.kv_cache_dtype, input.dtype,
                                            report.weight_bytes))},
          {"hardware", ToJson(input.hardware)},
          {"limits", LimitsJson(report)},
          {"gpu_hour_price_usd", OrNull(report.request.gpu_hour_price)},
          {"memory_plan", ToJson(report.plan)},
          {"contexts", std::move(contexts)},
          {"variants", std::move(variants)}};
}

}  // namespace kvbench
