#include "results/record/json_writer.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "results/json/json_layout.h"

namespace kvbench {
namespace {

using Json = nlohmann::ordered_json;

// ---- values: whatever is unknown becomes null ----

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json Number(const std::optional<double>& value) { return value ? Number(*value) : Json(nullptr); }

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json Numbers(const std::vector<double>& values) {
  Json array = Json::array();
  for (const double value : values) {
    array.push_back(Number(value));
  }
  return array;
}

/// Shares without one of them are worthless: the whole object is null then.
Json AllOrNull(Json object) {
  for (const Json& value : object) {
    if (value.is_null()) {
      return nullptr;
    }
  }
  return object;
}

Json Rate(const std::optional<double>& value) {
  return value && std::isinf(*value) ? Json("inf") : Number(value);
}

// ---- the file's head ----

Json ToJson(const KvbenchInfo& info) {
  return {{"version", info.version},
          {"commit", OrNull(info.commit)},
          {"build_type", info.build_type},
          {"compiler", info.compiler},
          {"cuda_version", OrNull(info.cuda_version)}};
}

Json ToJson(const GpuInfo& gpu) {
  return {{"name", gpu.name},
          {"memory_bytes", OrNull(gpu.memory_bytes)},
          {"driver", OrNull(gpu.driver)},
          {"compute_capability", OrNull(gpu.compute_capability)},
          {"l2_bytes", OrNull(gpu.l2_bytes)}};
}

Json ToJson(const Environment& environment) {
  return {{"os", OrNull(environment.os)},
          {"cpu_model", OrNull(environment.cpu_model)},
          {"cpu_isa", OrNull(environment.cpu_isa)},
          {"cores", OrNull(environment.cores)},
          {"memory_bytes", OrNull(environment.memory_bytes)},
          {"boot_id", OrNull(environment.boot_id)},
          {"gpu", environment.gpu ? ToJson(*environment.gpu) : Json(nullptr)},
          {"read_roof_bytes_per_s", Number(environment.read_roof_bytes_per_s)},
          {"read_roof_spread", Number(environment.read_roof_spread)}};
}

Json ToJson(const RunInfo& info) {
  return {{"command", info.command},
          {"suite", OrNull(info.suite)},
          {"started_at", info.started_at},
          {"duration_s", Number(info.duration_s)},
          {"complete", info.complete}};
}

// ---- what a run was ----

Json ToJson(const ModelInfo& model) {
  return {{"name", model.name},
          {"attention", model.attention},
          {"num_hidden_layers", model.num_hidden_layers},
          {"hidden_size", model.hidden_size},
          {"num_attention_heads", model.num_attention_heads},
          {"num_key_value_heads", model.num_key_value_heads},
          {"head_dim", model.head_dim},
          {"kv_cache_dtype", model.kv_cache_dtype},
          {"dtype", model.dtype},
          {"kv_bytes_per_token", model.kv_bytes_per_token},
          {"weight_bytes", model.weight_bytes}};
}

Json ToJson(const DesignInfo& design) {
  return {{"name", design.name},
          {"block_size", OrNull(design.block_size)},
          {"growth", OrNull(design.growth)},
          {"capacity_slots", design.capacity_slots},
          {"capacity_bytes", design.capacity_bytes},
          {"lost_bytes", design.lost_bytes}};
}

Json ToJson(const Limits& limits) {
  return {{"scheduler", limits.scheduler},
          {"chunked_prefill", limits.chunked_prefill},
          {"max_num_seqs", limits.max_num_seqs},
          {"max_num_batched_tokens", limits.max_num_batched_tokens},
          {"max_model_len", limits.max_model_len},
          {"max_concurrency", OrNull(limits.max_concurrency)},
          {"watermark", Number(limits.watermark)},
          {"preemption", limits.preemption}};
}

Json ToJson(const Window& window) {
  Json requests = Json::array();
  for (const IndexRange& range : window.excluded.requests) {
    requests.push_back({{"first", range.first}, {"last", range.last}});
  }
  Json excluded = {{"requests", std::move(requests)}, {"phases", window.excluded.phases}};
  return {{"from_s", Number(window.from_s)},
          {"to_s", Number(window.to_s)},
          {"excluded", std::move(excluded)}};
}

Json ToJson(const std::optional<MeasuredRoofs>& roofs) {
  if (!roofs) {
    return nullptr;
  }
  return {{"read_bytes_per_s", Number(roofs->read_bytes_per_s)},
          {"read_spread", Number(roofs->read_spread)},
          {"dense_flops_per_s", Number(roofs->dense_flops_per_s)}};
}

Json ToJson(const ExecutorInfo& executor) {
  return {{"kind", executor.kind},
          {"hardware", OrNull(executor.hardware)},
          {"threads", OrNull(executor.threads)},
          {"repetitions", executor.repetitions},
          {"dense", executor.dense},
          {"calibration", OrNull(executor.calibration)},
          {"tensor_parallel_size", OrNull(executor.tensor_parallel_size)},
          {"roofs", ToJson(executor.roofs)}};
}

Json ToJson(const TraceInfo& trace) {
  return {{"name", trace.name},
          {"sha256", trace.sha256},
          {"num_requests", trace.num_requests},
          {"request_rate", Rate(trace.request_rate)},
          {"seed", OrNull(trace.seed)},
          {"source", trace.source},
          {"prefix_reuse", trace.prefix_reuse}};
}

Json ToJson(const RunOrigin& origin) {
  return {{"started_at", origin.started_at},
          {"command", origin.command},
          {"commit", OrNull(origin.commit)},
          {"cpu_model", OrNull(origin.cpu_model)},
          {"cores", OrNull(origin.cores)},
          {"boot_id", OrNull(origin.boot_id)},
          {"gpu", origin.gpu ? ToJson(*origin.gpu) : Json(nullptr)},
          {"read_roof_bytes_per_s", Number(origin.read_roof_bytes_per_s)},
          {"read_roof_spread", Number(origin.read_roof_spread)}};
}

// ---- what came out ----

void AddLatency(const char* name, const LatencyStats& stats, Json& run) {
  const auto add = [&](const char* statistic, const std::optional<double>& value) {
    run[std::string(statistic) + "_" + name + "_ms"] = Number(value);
  };
  add("mean", stats.mean);
  add("median", stats.median);
  add("std", stats.std);
  add("p50", stats.p50);
  add("p90", stats.p90);
  add("p95", stats.p95);
  add("p99", stats.p99);
  add("max", stats.max);
}

Json ToJson(const std::vector<RejectedReason>& reasons) {
  Json array = Json::array();
  for (const RejectedReason& reason : reasons) {
    array.push_back({{"reason", reason.reason}, {"count", reason.count}});
  }
  return array;
}

Json ToJson(const WhileWaiting& waiting) {
  return {{"steps", waiting.steps},
          {"duration_s", Number(waiting.duration_s)},
          {"mean_running_requests", Number(waiting.mean_running_requests)},
          {"output_throughput", Number(waiting.output_throughput)}};
}

Json ToJson(const BoundBy& bound_by) {
  return {{"memory", Number(bound_by.memory)},
          {"sequences", Number(bound_by.sequences)},
          {"tokens", Number(bound_by.tokens)},
          {"nothing", Number(bound_by.nothing)}};
}

Json ToJson(const std::optional<UsageShares>& usage) {
  if (!usage) {
    return nullptr;
  }
  return AllOrNull({{"live", Number(usage->live)},
                    {"reserved", Number(usage->reserved)},
                    {"overestimate", Number(usage->overestimate)},
                    {"rounding", Number(usage->rounding)},
                    {"free", Number(usage->free)}});
}

Json ToJson(const std::optional<PaperFig2>& figure) {
  if (!figure) {
    return nullptr;
  }
  return AllOrNull({{"token_states", Number(figure->token_states)},
                    {"reservation", Number(figure->reservation)},
                    {"internal_fragmentation", Number(figure->internal_fragmentation)},
                    {"external_and_others", Number(figure->external_and_others)}});
}

Json ToJson(const KvStats& kv) {
  return {{"usage_per_step", ToJson(kv.usage_per_step)},
          {"usage_over_time", ToJson(kv.usage_over_time)},
          {"token_usage", Number(kv.token_usage)},
          {"block_usage", Number(kv.block_usage)},
          {"waste_of_capacity", Number(kv.waste_of_capacity)},
          {"waste_of_allocated", Number(kv.waste_of_allocated)},
          {"peak_live_slots", kv.peak_live_slots},
          {"peak_allocated_slots", kv.peak_allocated_slots},
          {"resident_bytes", OrNull(kv.resident_bytes)},
          {"paper_fig2", ToJson(kv.paper_fig2)}};
}

Json ToJson(const Operations& operations) {
  return {{"operations", operations.operations},
          {"pieces", operations.pieces},
          {"bytes", operations.bytes},
          {"seconds", Number(operations.seconds)},
          {"checked", OrNull(operations.checked)}};
}

Json ToJson(const Verification& verification) {
  return {{"checked", verification.checked},
          {"checked_layers", verification.checked_layers},
          {"checked_256_keys", verification.checked_256_keys},
          {"max_relative_error", Number(verification.max_relative_error)},
          {"tolerance", Number(verification.tolerance)},
          {"passed", verification.passed}};
}

Json ToJson(const Phases& phases) {
  return {{"attention", Number(phases.attention)},
          {"cache_write", Number(phases.cache_write)},
          {"dense", Number(phases.dense)},
          {"bookkeeping", Number(phases.bookkeeping)},
          {"other", Number(phases.other)}};
}

Json ToJson(const Samples& samples) {
  Json json = {{"output_throughput", Numbers(samples.output_throughput)},
               {"duration", Numbers(samples.duration)}};
  const RequestSamples* requests = samples.requests ? &*samples.requests : nullptr;
  json["arrival_s"] = requests ? Numbers(requests->arrival_s) : Json(nullptr);
  json["input_lens"] = requests ? Json(requests->input_lens) : Json(nullptr);
  json["output_lens"] = requests ? Json(requests->output_lens) : Json(nullptr);
  json["ttft_ms"] = requests ? Numbers(requests->ttft_ms) : Json(nullptr);
  json["e2el_ms"] = requests ? Numbers(requests->e2el_ms) : Json(nullptr);
  json["queue_ms"] = requests ? Numbers(requests->queue_ms) : Json(nullptr);
  json["preemptions"] = requests ? Json(requests->preemptions) : Json(nullptr);
  return json;
}

Json ToJson(const std::vector<TimelinePoint>& timeline) {
  Json array = Json::array();
  for (const TimelinePoint& point : timeline) {
    array.push_back({{"time_s", Number(point.time_s)},
                     {"running", point.running},
                     {"waiting", point.waiting},
                     {"live", point.live},
                     {"reserved", point.reserved},
                     {"overestimate", point.overestimate},
                     {"rounding", point.rounding},
                     {"free", point.free}});
  }
  return array;
}

template <typename T>
Json ObjectOrNull(const std::optional<T>& value) {
  return value ? ToJson(*value) : Json(nullptr);
}

Json ToJson(const RunRecord& run) {
  Json json;
  json["label"] = run.label;
  json["repetition"] = run.repetition;
  json["model"] = ToJson(run.model);
  json["design"] = ToJson(run.design);
  json["limits"] = ToJson(run.limits);
  json["window"] = ToJson(run.window);
  json["executor"] = ToJson(run.executor);
  json["trace"] = ToJson(run.trace);
  json["origin"] = run.origin ? ToJson(*run.origin) : Json(nullptr);
  json["duration"] = Number(run.duration);
  json["completed"] = run.completed;
  json["failed"] = run.failed;
  json["rejected"] = run.rejected;
  json["rejected_reasons"] = ToJson(run.rejected_reasons);
  json["total_input_tokens"] = run.total_input_tokens;
  json["total_output_tokens"] = run.total_output_tokens;
  json["request_throughput"] = Number(run.request_throughput);
  json["output_throughput"] = Number(run.output_throughput);
  json["total_token_throughput"] = Number(run.total_token_throughput);
  AddLatency("ttft", run.ttft, json);
  AddLatency("tpot", run.tpot, json);
  AddLatency("itl", run.itl, json);
  AddLatency("e2el", run.e2el, json);
  AddLatency("queue", run.queue, json);
  json["percentile_method"] = run.percentile_method;
  json["percentile_relative_error"] = Number(run.percentile_relative_error);
  json["goodput"] = Number(run.goodput);
  json["normalized_latency_mean_s_per_token"] = Number(run.normalized_latency_mean_s_per_token);
  json["mean_running_requests"] = Number(run.mean_running_requests);
  json["peak_running_requests"] = run.peak_running_requests;
  json["mean_waiting_requests"] = Number(run.mean_waiting_requests);
  json["steps"] = run.steps;
  json["preemptions"] = run.preemptions;
  json["recomputed_tokens"] = run.recomputed_tokens;
  json["swapped_blocks"] = run.swapped_blocks;
  json["while_waiting"] = ObjectOrNull(run.while_waiting);
  json["bound_by"] = ToJson(run.bound_by);
  json["operations"] = ObjectOrNull(run.operations);
  json["kv"] = ToJson(run.kv);
  json["verification"] = ObjectOrNull(run.verification);
  json["phases"] = ObjectOrNull(run.phases);
  json["notes"] = run.notes;
  json["samples"] = ToJson(run.samples);
  json["timeline"] = ToJson(run.timeline);
  return json;
}

void WriteKey(const char* key, const Json& value, std::ostream& out) {
  out << "  \"" << key << "\": ";
  WriteJson(value, 2, out);
  out << ",\n";
}

}  // namespace

void WriteResults(const ResultsFile& file, std::ostream& out) {
  out << "{\n";
  WriteKey("schema_version", ResultsFile::kSchemaVersion, out);
  WriteKey("kvbench", ToJson(file.kvbench), out);
  WriteKey("environment", ToJson(file.environment), out);
  WriteKey("run_info", ToJson(file.run_info), out);
  out << "  \"runs\": [";
  const char* separator = "\n    ";
  for (const RunRecord& run : file.runs) {
    out << separator;
    WriteJson(ToJson(run), 4, out);
    separator = ",\n    ";
  }
  out << (file.runs.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

nlohmann::ordered_json RunJson(const RunRecord& run) { return ToJson(run); }

nlohmann::ordered_json ModelJson(const ModelInfo& model) { return ToJson(model); }

std::string ResultsJson(const ResultsFile& file) {
  std::ostringstream out;
  WriteResults(file, out);
  return std::move(out).str();
}

}  // namespace kvbench
