#include "results/export/export_vllm.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

/// "2025-01-31T12:00:00Z" as vLLM's "20250131-120000".
Json Date(const std::string& rfc3339) {
  std::string digits;
  for (const char c : rfc3339.substr(0, 19)) {
    if (c >= '0' && c <= '9') {
      digits += c;
    }
  }
  if (digits.size() != 14) {
    return nullptr;
  }
  return digits.substr(0, 8) + "-" + digits.substr(8);
}

void AddLatency(const std::string& name, const LatencyStats& stats, Json& json) {
  for (size_t i = 0; i < kLatencyStatistics.size(); ++i) {
    const std::string statistic(kLatencyStatistics[i].name);
    if (statistic != "max") {
      json[statistic + "_" + name + "_ms"] = OrNull(stats.values[i]);
    }
  }
}

void AddRequests(const RequestSamples& requests, Json& json) {
  Json ttfts = Json::array();
  Json errors = Json::array();
  Json latencies = Json::array();
  Json queue_times = Json::array();
  for (size_t i = 0; i < requests.arrival_s.size(); ++i) {
    const bool finished = std::isfinite(requests.e2el_ms[i]);
    ttfts.push_back(finished ? requests.ttft_ms[i] / 1e3 : 0.0);
    latencies.push_back(finished ? requests.e2el_ms[i] / 1e3 : 0.0);
    queue_times.push_back(finished ? requests.queue_ms[i] / 1e3 : 0.0);
    errors.push_back(finished ? "" : "rejected or not finished");
  }
  json["input_lens"] = requests.input_lens;
  json["output_lens"] = requests.output_lens;
  json["ttfts"] = std::move(ttfts);
  json["itls"] = nullptr;
  json["latencies"] = std::move(latencies);
  json["queue_times"] = std::move(queue_times);
  json["start_times"] = requests.arrival_s;
  json["generated_texts"] = nullptr;
  json["errors"] = std::move(errors);
}

}  // namespace

Json VllmJson(const ResultsFile& file, const RunRecord& run) {
  const std::optional<double>& rate = run.trace.request_rate;
  Json json;
  json["date"] = Date(file.run_info.started_at);
  json["endpoint_type"] = "kvbench";
  json["backend"] = "kvbench";
  json["label"] = run.label;
  json["model_id"] = run.model.name;
  json["tokenizer_id"] = nullptr;
  json["num_prompts"] = run.trace.num_requests;
  json["request_rate"] = rate && std::isinf(*rate) ? Json("inf") : OrNull(rate);
  json["burstiness"] = nullptr;
  json["max_concurrency"] =
      run.limits.max_concurrency ? Json(*run.limits.max_concurrency) : Json(nullptr);
  json["duration"] = run.duration;
  json["completed"] = run.completed;
  json["failed"] = run.failed + run.rejected;
  json["total_input_tokens"] = run.total_input_tokens;
  json["total_output_tokens"] = run.total_output_tokens;
  json["request_throughput"] = OrNull(run.request_throughput);
  json["request_goodput"] = OrNull(run.goodput);
  json["output_throughput"] = OrNull(run.output_throughput);
  json["total_token_throughput"] = OrNull(run.total_token_throughput);
  json["max_output_tokens_per_s"] = nullptr;
  json["max_concurrent_requests"] = run.peak_running_requests;
  json["rtfx"] = nullptr;
  AddLatency("ttft", run.ttft, json);
  AddLatency("tpot", run.tpot, json);
  AddLatency("itl", run.itl, json);
  AddLatency("e2el", run.e2el, json);
  if (run.samples.requests) {
    AddRequests(*run.samples.requests, json);
  }
  json["kvbench_version"] = file.kvbench.version;
  json["kvbench_repetition"] = run.repetition;
  json["kvbench_executor"] = run.executor.kind;
  json["kvbench_design"] = run.design.name;
  json["kvbench_block_size"] = run.design.block_size ? Json(*run.design.block_size) : Json(nullptr);
  json["kvbench_trace_sha256"] = run.trace.sha256;
  json["kvbench_seed"] = run.trace.seed ? Json(*run.trace.seed) : Json(nullptr);
  json["kvbench_waste_of_capacity"] = OrNull(run.kv.waste_of_capacity);
  return json;
}

}  // namespace kvbench
