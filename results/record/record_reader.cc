#include "results/record/record_reader.h"

#include <fmt/format.h>

#include <limits>

#include "base/error.h"

namespace kvbench {

// Read(value, out) for each type of record.h, members in its order. Named members alone are looked
// at, so that keys of a newer minor version are passed over. They are static rather than in an
// unnamed namespace: the templates find them by their arguments, whatever the order.

template <typename T>
static void Read(const JsonValue& value, std::optional<T>& out);
template <typename T>
static void Read(const JsonValue& value, std::vector<T>& out);

/// Reads one member of an object.
template <typename T>
static void Get(const JsonValue& object, std::string_view key, T& out) {
  Read(object.At(key), out);
}

/// One that a 1.0 file lacks, or that is worth a default.
template <typename T>
static void GetOr(const JsonValue& object, std::string_view key, T& out) {
  if (const JsonValue value = object.At(key); !value.is_null()) {
    Read(value, out);
  }
}

void Read(const JsonValue& value, KvbenchInfo& out) {
  Get(value, "version", out.version);
  Get(value, "commit", out.commit);
  Get(value, "build_type", out.build_type);
  Get(value, "compiler", out.compiler);
  Get(value, "cuda_version", out.cuda_version);
}

static void Read(const JsonValue& value, GpuInfo& out) {
  Get(value, "name", out.name);
  Get(value, "memory_bytes", out.memory_bytes);
  Get(value, "driver", out.driver);
  Get(value, "compute_capability", out.compute_capability);
  Get(value, "l2_bytes", out.l2_bytes);
}

void Read(const JsonValue& value, Environment& out) {
  Get(value, "os", out.os);
  Get(value, "cpu_model", out.cpu_model);
  Get(value, "cpu_isa", out.cpu_isa);
  Get(value, "cores", out.cores);
  Get(value, "memory_bytes", out.memory_bytes);
  Get(value, "boot_id", out.boot_id);
  Get(value, "gpu", out.gpu);
  Get(value, "read_roof_bytes_per_s", out.read_roof_bytes_per_s);
  GetOr(value, "read_roof_spread", out.read_roof_spread);
}

void Read(const JsonValue& value, RunOrigin& out) {
  Get(value, "started_at", out.started_at);
  Get(value, "command", out.command);
  Get(value, "commit", out.commit);
  Get(value, "cpu_model", out.cpu_model);
  Get(value, "cores", out.cores);
  Get(value, "boot_id", out.boot_id);
  Get(value, "gpu", out.gpu);
  Get(value, "read_roof_bytes_per_s", out.read_roof_bytes_per_s);
  Get(value, "read_roof_spread", out.read_roof_spread);
}

void Read(const JsonValue& value, RunInfo& out) {
  Get(value, "command", out.command);
  Get(value, "suite", out.suite);
  Get(value, "started_at", out.started_at);
  Get(value, "duration_s", out.duration_s);
  Get(value, "complete", out.complete);
}

static void Read(const JsonValue& value, ModelInfo& out) {
  Get(value, "name", out.name);
  Get(value, "attention", out.attention);
  Get(value, "num_hidden_layers", out.num_hidden_layers);
  Get(value, "hidden_size", out.hidden_size);
  Get(value, "num_attention_heads", out.num_attention_heads);
  Get(value, "num_key_value_heads", out.num_key_value_heads);
  Get(value, "head_dim", out.head_dim);
  Get(value, "kv_cache_dtype", out.kv_cache_dtype);
  Get(value, "dtype", out.dtype);
  Get(value, "kv_bytes_per_token", out.kv_bytes_per_token);
  Get(value, "weight_bytes", out.weight_bytes);
}

static void Read(const JsonValue& value, DesignInfo& out) {
  Get(value, "name", out.name);
  Get(value, "block_size", out.block_size);
  GetOr(value, "growth", out.growth);
  Get(value, "capacity_slots", out.capacity_slots);
  Get(value, "capacity_bytes", out.capacity_bytes);
  Get(value, "lost_bytes", out.lost_bytes);
}

static void Read(const JsonValue& value, Limits& out) {
  Get(value, "scheduler", out.scheduler);
  Get(value, "chunked_prefill", out.chunked_prefill);
  Get(value, "max_num_seqs", out.max_num_seqs);
  Get(value, "max_num_batched_tokens", out.max_num_batched_tokens);
  Get(value, "max_model_len", out.max_model_len);
  Get(value, "max_concurrency", out.max_concurrency);
  Get(value, "watermark", out.watermark);
  Get(value, "preemption", out.preemption);
}

static void Read(const JsonValue& value, IndexRange& out) {
  Get(value, "first", out.first);
  Get(value, "last", out.last);
}

static void Read(const JsonValue& value, Window& out) {
  Get(value, "from_s", out.from_s);
  Get(value, "to_s", out.to_s);
  const JsonValue excluded = value.At("excluded");
  Get(excluded, "requests", out.excluded.requests);
  Get(excluded, "phases", out.excluded.phases);
}

static void Read(const JsonValue& value, MeasuredRoofs& out) {
  Get(value, "read_bytes_per_s", out.read_bytes_per_s);
  Get(value, "read_spread", out.read_spread);
  Get(value, "dense_flops_per_s", out.dense_flops_per_s);
}

static void Read(const JsonValue& value, ExecutorInfo& out) {
  Get(value, "kind", out.kind);
  Get(value, "hardware", out.hardware);
  Get(value, "threads", out.threads);
  Get(value, "repetitions", out.repetitions);
  GetOr(value, "dense", out.dense);
  Get(value, "calibration", out.calibration);
  Get(value, "tensor_parallel_size", out.tensor_parallel_size);
  Get(value, "roofs", out.roofs);
}

static void Read(const JsonValue& value, TraceInfo& out) {
  Get(value, "name", out.name);
  Get(value, "sha256", out.sha256);
  Get(value, "num_requests", out.num_requests);
  const JsonValue rate = value.At("request_rate");
  if (rate.json().is_string()) {
    if (rate.String() != "inf") {
      rate.Fail("a number, \"inf\" or null");
    }
    out.request_rate = std::numeric_limits<double>::infinity();
  } else {
    Read(rate, out.request_rate);
  }
  Get(value, "seed", out.seed);
  Get(value, "source", out.source);
  GetOr(value, "prefix_reuse", out.prefix_reuse);
}

static void ReadLatency(const JsonValue& run, const char* name, LatencyStats& out) {
  const auto get = [&](const char* statistic, std::optional<double>& value) {
    // The key has to live while its value is looked at.
    const std::string key = fmt::format("{}_{}_ms", statistic, name);
    Get(run, key, value);
  };
  get("mean", out.mean);
  get("median", out.median);
  get("std", out.std);
  get("p50", out.p50);
  get("p90", out.p90);
  get("p95", out.p95);
  get("p99", out.p99);
  get("max", out.max);
}

static void Read(const JsonValue& value, RejectedReason& out) {
  Get(value, "reason", out.reason);
  Get(value, "count", out.count);
}

static void Read(const JsonValue& value, WhileWaiting& out) {
  Get(value, "steps", out.steps);
  Get(value, "duration_s", out.duration_s);
  Get(value, "mean_running_requests", out.mean_running_requests);
  Get(value, "output_throughput", out.output_throughput);
}

static void Read(const JsonValue& value, BoundBy& out) {
  Get(value, "memory", out.memory);
  Get(value, "sequences", out.sequences);
  Get(value, "tokens", out.tokens);
  Get(value, "nothing", out.nothing);
}

static void Read(const JsonValue& value, UsageShares& out) {
  Get(value, "live", out.live);
  Get(value, "reserved", out.reserved);
  Get(value, "overestimate", out.overestimate);
  Get(value, "rounding", out.rounding);
  Get(value, "free", out.free);
}

static void Read(const JsonValue& value, PaperFig2& out) {
  Get(value, "token_states", out.token_states);
  Get(value, "reservation", out.reservation);
  Get(value, "internal_fragmentation", out.internal_fragmentation);
  Get(value, "external_and_others", out.external_and_others);
}

static void Read(const JsonValue& value, KvStats& out) {
  Get(value, "usage_per_step", out.usage_per_step);
  Get(value, "usage_over_time", out.usage_over_time);
  Get(value, "token_usage", out.token_usage);
  Get(value, "block_usage", out.block_usage);
  Get(value, "waste_of_capacity", out.waste_of_capacity);
  Get(value, "waste_of_allocated", out.waste_of_allocated);
  Get(value, "peak_live_slots", out.peak_live_slots);
  Get(value, "peak_allocated_slots", out.peak_allocated_slots);
  Get(value, "resident_bytes", out.resident_bytes);
  Get(value, "paper_fig2", out.paper_fig2);
}

static void Read(const JsonValue& value, Operations& out) {
  Get(value, "operations", out.operations);
  Get(value, "pieces", out.pieces);
  Get(value, "bytes", out.bytes);
  Get(value, "seconds", out.seconds);
  Get(value, "checked", out.checked);
}

static void Read(const JsonValue& value, Verification& out) {
  Get(value, "checked", out.checked);
  GetOr(value, "checked_layers", out.checked_layers);
  GetOr(value, "checked_256_keys", out.checked_256_keys);
  Get(value, "max_relative_error", out.max_relative_error);
  Get(value, "tolerance", out.tolerance);
  Get(value, "passed", out.passed);
}

static void Read(const JsonValue& value, Phases& out) {
  Get(value, "attention", out.attention);
  Get(value, "cache_write", out.cache_write);
  Get(value, "dense", out.dense);
  Get(value, "bookkeeping", out.bookkeeping);
  Get(value, "other", out.other);
}

/// Numbers in which null stands for "none": NaN here.
static void GetNumbers(const JsonValue& object, std::string_view key, std::vector<double>& out) {
  const JsonValue array = object.At(key);
  out.reserve(array.size());
  for (size_t i = 0; i < array.size(); ++i) {
    const JsonValue number = array.At(i);
    out.push_back(number.is_null() ? std::numeric_limits<double>::quiet_NaN() : number.Number());
  }
}

static void Read(const JsonValue& value, Samples& out) {
  GetNumbers(value, "output_throughput", out.output_throughput);
  GetNumbers(value, "duration", out.duration);
  if (value.At("arrival_s").is_null()) {
    return;
  }
  RequestSamples& requests = out.requests.emplace();
  GetNumbers(value, "arrival_s", requests.arrival_s);
  Get(value, "input_lens", requests.input_lens);
  Get(value, "output_lens", requests.output_lens);
  GetNumbers(value, "ttft_ms", requests.ttft_ms);
  GetNumbers(value, "e2el_ms", requests.e2el_ms);
  GetNumbers(value, "queue_ms", requests.queue_ms);
  Get(value, "preemptions", requests.preemptions);
  const size_t count = requests.arrival_s.size();
  if (requests.input_lens.size() != count || requests.output_lens.size() != count ||
      requests.ttft_ms.size() != count || requests.e2el_ms.size() != count ||
      requests.queue_ms.size() != count || requests.preemptions.size() != count) {
    throw Error(value.Path() + " has lists of different lengths; each has one entry a request");
  }
}

template <typename T>
static void Read(const JsonValue& value, std::optional<T>& out) {
  if (value.is_null()) {
    out.reset();
  } else {
    Read(value, out.emplace());
  }
}

template <typename T>
static void Read(const JsonValue& value, std::vector<T>& out) {
  out.resize(value.size());
  for (size_t i = 0; i < out.size(); ++i) {
    Read(value.At(i), out[i]);
  }
}

static void ReadOutcome(const JsonValue& value, RunRecord& out) {
  Get(value, "duration", out.duration);
  Get(value, "completed", out.completed);
  Get(value, "failed", out.failed);
  Get(value, "rejected", out.rejected);
  Get(value, "rejected_reasons", out.rejected_reasons);
  Get(value, "total_input_tokens", out.total_input_tokens);
  Get(value, "total_output_tokens", out.total_output_tokens);
  Get(value, "request_throughput", out.request_throughput);
  Get(value, "output_throughput", out.output_throughput);
  Get(value, "total_token_throughput", out.total_token_throughput);
  ReadLatency(value, "ttft", out.ttft);
  ReadLatency(value, "tpot", out.tpot);
  ReadLatency(value, "itl", out.itl);
  ReadLatency(value, "e2el", out.e2el);
  ReadLatency(value, "queue", out.queue);
  Get(value, "percentile_method", out.percentile_method);
  Get(value, "percentile_relative_error", out.percentile_relative_error);
  Get(value, "goodput", out.goodput);
  Get(value, "normalized_latency_mean_s_per_token", out.normalized_latency_mean_s_per_token);
  Get(value, "mean_running_requests", out.mean_running_requests);
  Get(value, "peak_running_requests", out.peak_running_requests);
  Get(value, "mean_waiting_requests", out.mean_waiting_requests);
  Get(value, "steps", out.steps);
  Get(value, "preemptions", out.preemptions);
  Get(value, "recomputed_tokens", out.recomputed_tokens);
  Get(value, "swapped_blocks", out.swapped_blocks);
  Get(value, "while_waiting", out.while_waiting);
  Get(value, "bound_by", out.bound_by);
  GetOr(value, "operations", out.operations);
  Get(value, "kv", out.kv);
  Get(value, "verification", out.verification);
  Get(value, "phases", out.phases);
  GetOr(value, "notes", out.notes);
  Get(value, "samples", out.samples);
}

void Read(const JsonValue& value, RunRecord& out) {
  Get(value, "label", out.label);
  Get(value, "repetition", out.repetition);
  Get(value, "model", out.model);
  Get(value, "design", out.design);
  Get(value, "limits", out.limits);
  Get(value, "window", out.window);
  Get(value, "executor", out.executor);
  Get(value, "trace", out.trace);
  GetOr(value, "origin", out.origin);
  ReadOutcome(value, out);
}

}  // namespace kvbench
