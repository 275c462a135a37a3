#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/plan/capacity.h"
#include "bench/plan/decode_estimate.h"
#include "bench/plan/memory_plan.h"

namespace kvbench {

/// What `kvbench plan` is asked.
struct PlanRequest {
  MemoryPlanInput input;
  std::vector<int64_t> contexts;  ///< tokens of a request when it ends, each at most model_len()
  std::vector<int64_t> batches;   ///< requests, each at most kMostRequests
  int64_t output_tokens = 0;      ///< of each request, 0: half of its context
  std::optional<double> gpu_hour_price;  ///< US dollars
};

/// A batch with, where it fits and there is a price, what a decode step of it costs.
struct PlannedBatch {
  BatchFit fit;
  std::optional<DecodeEstimate> decode;  ///< modelled
  std::optional<double> usd_per_million_output_tokens;
};

struct PlannedContext {
  RequestKind kind;
  int64_t kv_bytes = 0;  ///< of one request, each token held once
  std::vector<DesignCapacity> designs;
  std::vector<PlannedBatch> batches;
};

/// The model with another number of KV heads, everything else equal.
struct HeadVariant {
  Attention attention = Attention::kMHA;
  int64_t num_key_value_heads = 0;
  bool own = false;          ///< the model as it is
  int64_t weight_bytes = 0;  ///< on one device
  int64_t kv_bytes_per_token = 0;
  int64_t kv_bytes = 0;                 ///< of one request of the longest context
  std::vector<DesignCapacity> designs;  ///< requests of the longest context
};

struct PlanReport {
  PlanRequest request;
  int64_t weight_bytes = 0;        ///< of the whole model, each weight once
  int64_t kv_bytes_per_token = 0;  ///< each token held once
  MemoryPlan plan;
  std::vector<PlannedContext> contexts;
  std::vector<HeadVariant> variants;
};

/// Computes everything. Throws Error as PlanMemory and RequestsAtOnce do.
PlanReport BuildPlanReport(const PlanRequest& request);

/// The report for people: at most 100 columns.
std::string PlanText(const PlanReport& report);

/// The report for programs: every figure of the text, sizes in bytes.
nlohmann::ordered_json PlanJson(const PlanReport& report);

}  // namespace kvbench
