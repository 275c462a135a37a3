#include "bench/plan/plan_report.h"

#include <algorithm>

#include "base/error.h"
#include "workloads/models/model_parameters.h"

namespace kvbench {
namespace {

RequestKind KindOf(const PlanRequest& request, int64_t context) {
  const int64_t output = request.output_tokens > 0 ? request.output_tokens : HalfOf(context);
  return {context, std::min(output, context - 1)};
}

PlannedContext PlanContext(const PlanRequest& request, const MemoryPlan& plan, int64_t context) {
  const MemoryPlanInput& input = request.input;
  PlannedContext planned;
  planned.kind = KindOf(request, context);
  planned.kv_bytes = KvBytesForContext(input.model, input.kv_cache_dtype, context);
  planned.designs = RequestsAtOnce(input, plan, planned.kind);
  for (const int64_t batch : request.batches) {
    PlannedBatch& result = planned.batches.emplace_back();
    result.fit = FitBatch(input, plan, planned.kind, batch, planned.designs);
    if (result.fit.fits() && request.gpu_hour_price) {
      result.decode = EstimateDecode(input, context, batch);
      result.usd_per_million_output_tokens =
          CostOfMillionTokens(input, *result.decode, *request.gpu_hour_price);
    }
  }
  return planned;
}

/// KV heads of a grouped variant: the model's own, else eight, else the most below eight that
/// divide the query heads. 0: there is none.
int64_t GroupedHeads(const ModelShape& model) {
  if (model.attention == Attention::kGQA) {
    return model.num_key_value_heads;
  }
  for (int64_t heads = std::min(int64_t{8}, model.num_attention_heads - 1); heads > 1; --heads) {
    if (model.num_attention_heads % heads == 0) {
      return heads;
    }
  }
  return 0;
}

ModelShape WithHeads(ModelShape model, Attention attention, int64_t kv_heads) {
  if (model.attention == Attention::kMLA) {
    // Without the latent a token has a key of head_dim and a value of v_head_dim in every head.
    const int64_t key = model.head_dim;
    const int64_t value =
        model.weights.v_head_dim > 0 ? model.weights.v_head_dim : key - model.qk_rope_head_dim;
    model.head_dim = (key + value + 1) / 2;
    model.kv_lora_rank = model.qk_rope_head_dim = 0;
  }
  model.attention = attention;
  model.num_key_value_heads = kv_heads;
  return model;
}

HeadVariant PlanVariant(const PlanRequest& request, const ModelShape& model, int64_t context) {
  MemoryPlanInput input = request.input;
  input.model = model;
  const MemoryPlan plan = PlanMemory(input);
  HeadVariant variant;
  variant.attention = model.attention;
  variant.num_key_value_heads = model.num_key_value_heads;
  variant.weight_bytes = plan.weight_bytes;
  variant.kv_bytes_per_token = KvBytesPerToken(model, input.kv_cache_dtype);
  variant.kv_bytes = KvBytesForContext(model, input.kv_cache_dtype, context);
  variant.designs = RequestsAtOnce(input, plan, KindOf(request, context));
  return variant;
}

std::vector<HeadVariant> PlanVariants(const PlanRequest& request, int64_t context) {
  const ModelShape& model = request.input.model;
  std::vector<HeadVariant> variants;
  for (const auto& [attention, heads] : {std::pair(Attention::kMHA, model.num_attention_heads),
                                         {Attention::kGQA, GroupedHeads(model)},
                                         {Attention::kMQA, int64_t{1}}}) {
    if (heads == 0 || (heads == 1 && attention == Attention::kMHA)) {
      continue;
    }
    const bool own = attention == model.attention;
    const ModelShape shape = own ? model : WithHeads(model, attention, heads);
    try {
      DeviceShape(shape, request.input.tensor_parallel);
    } catch (const Error&) {
      continue;  // these heads do not divide by the devices
    }
    variants.push_back(PlanVariant(request, shape, context));
    variants.back().own = own;
  }
  if (model.attention == Attention::kMLA) {
    variants.push_back(PlanVariant(request, model, context));
    variants.back().own = true;
  }
  return variants;
}

}  // namespace

PlanReport BuildPlanReport(const PlanRequest& request) {
  const MemoryPlanInput& input = request.input;
  PlanReport report;
  report.request = request;
  report.plan = PlanMemory(input);
  report.weight_bytes = CountParameters(input.model).total() * DtypeBytes(input.dtype);
  report.kv_bytes_per_token = KvBytesPerToken(input.model, input.kv_cache_dtype);
  for (const int64_t context : request.contexts) {
    report.contexts.push_back(PlanContext(request, report.plan, context));
  }
  report.variants =
      PlanVariants(request, *std::max_element(request.contexts.begin(), request.contexts.end()));
  return report;
}

}  // namespace kvbench
