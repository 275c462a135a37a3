#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/record/latency_stats.h"

namespace kvbench {

class Description;

// What a run produced, as plain data. One struct for each JSON object, members in the order of the
// file and named as its keys. An empty optional is `null`, and so is a double that is NaN or
// infinite (except request_rate). What each member means and its unit say the descriptions in
// describe_file.cc, describe_setup.cc and describe_outcome.cc, from which the writer, the reader,
// the JSON Schema, the CSV columns, the fields that must be equal and the headings of tables come.

struct KvbenchInfo {
  static const Description& Describe();
  std::string version;
  std::optional<std::string> commit;
  std::string build_type;
  std::string compiler;
  std::optional<std::string> cuda_version;
};

struct GpuInfo {
  static const Description& Describe();
  std::string name;
  std::optional<int64_t> memory_bytes;
  std::optional<std::string> driver;
  std::optional<std::string> compute_capability;
  std::optional<int64_t> l2_bytes;
};

struct Environment {
  static const Description& Describe();
  std::optional<std::string> os;
  std::optional<std::string> cpu_model;
  std::optional<std::string> cpu_isa;
  std::optional<int64_t> cores;
  std::optional<int64_t> memory_bytes;
  std::optional<std::string> boot_id;
  std::optional<GpuInfo> gpu;
  std::optional<double> read_roof_bytes_per_s;
  std::optional<double> read_roof_spread;
};

struct RunInfo {
  static const Description& Describe();
  std::string command;
  std::optional<std::string> suite;
  std::string started_at;
  double duration_s = 0;
  bool complete = true;
};

struct ModelInfo {
  static const Description& Describe();
  std::string name;
  std::string attention;
  int64_t num_hidden_layers = 0;
  int64_t hidden_size = 0;
  int64_t num_attention_heads = 0;
  int64_t num_key_value_heads = 0;
  int64_t head_dim = 0;
  std::string kv_cache_dtype;
  std::string dtype;
  int64_t kv_bytes_per_token = 0;
  int64_t weight_bytes = 0;
};

struct DesignInfo {
  static const Description& Describe();
  std::string name;
  std::optional<int64_t> block_size;
  std::optional<std::string> growth;
  int64_t capacity_slots = 0;
  int64_t capacity_bytes = 0;
  int64_t lost_bytes = 0;
};

struct Limits {
  static const Description& Describe();
  std::string scheduler;
  bool chunked_prefill = true;
  int64_t max_num_seqs = 0;
  int64_t max_num_batched_tokens = 0;
  int64_t max_model_len = 0;
  std::optional<int64_t> max_concurrency;
  double watermark = 0;
  std::string preemption;
};

struct IndexRange {
  static const Description& Describe();
  int64_t first = 0;
  int64_t last = 0;
};

struct Excluded {
  static const Description& Describe();
  std::vector<IndexRange> requests;
  std::vector<std::string> phases;
};

struct Window {
  static const Description& Describe();
  std::optional<double> from_s;
  std::optional<double> to_s;
  Excluded excluded;
};

struct MeasuredRoofs {
  static const Description& Describe();
  double read_bytes_per_s = 0;
  double read_spread = 0;
  double dense_flops_per_s = 0;
};

struct ExecutorInfo {
  static const Description& Describe();
  std::string kind;
  std::optional<std::string> hardware;
  std::optional<int64_t> threads;
  int64_t repetitions = 1;
  bool dense = true;
  std::optional<std::string> attention_kernel;
  std::optional<std::string> calibration;
  std::optional<int64_t> tensor_parallel_size;
  std::optional<MeasuredRoofs> roofs;
};

struct TraceInfo {
  static const Description& Describe();
  std::string name;
  std::string sha256;
  int64_t num_requests = 0;
  std::optional<double> request_rate;
  std::optional<int64_t> seed;
  std::string source;
  std::string prefix_reuse = "ignored";
};

struct RunOrigin {
  static const Description& Describe();
  std::string started_at;
  std::string command;
  std::optional<std::string> commit;
  std::optional<std::string> cpu_model;
  std::optional<int64_t> cores;
  std::optional<std::string> boot_id;
  std::optional<GpuInfo> gpu;
  std::optional<double> read_roof_bytes_per_s;
  std::optional<double> read_roof_spread;
};

struct RejectedReason {
  static const Description& Describe();
  std::string reason;
  int64_t count = 0;
};

struct WhileWaiting {
  static const Description& Describe();
  int64_t steps = 0;
  double duration_s = 0;
  std::optional<double> mean_running_requests;
  std::optional<double> output_throughput;
};

struct BoundBy {
  static const Description& Describe();
  std::optional<double> memory;
  std::optional<double> sequences;
  std::optional<double> tokens;
  std::optional<double> nothing;
};

struct UsageShares {
  static const Description& Describe();
  double live = 0;
  double reserved = 0;
  double overestimate = 0;
  double rounding = 0;
  double free = 0;
};

struct PaperFig2 {
  static const Description& Describe();
  double token_states = 0;
  double reservation = 0;
  double internal_fragmentation = 0;
  double external_and_others = 0;
};

struct KvStats {
  static const Description& Describe();
  std::optional<UsageShares> usage_per_step;
  std::optional<UsageShares> usage_over_time;
  std::optional<double> token_usage;
  std::optional<double> block_usage;
  std::optional<double> waste_of_capacity;
  std::optional<double> waste_of_allocated;
  int64_t peak_live_slots = 0;
  int64_t peak_allocated_slots = 0;
  std::optional<int64_t> resident_bytes;
  std::optional<PaperFig2> paper_fig2;
};

struct Verification {
  static const Description& Describe();
  int64_t checked = 0;
  int64_t checked_layers = 0;
  int64_t checked_256_keys = 0;
  std::optional<double> max_relative_error;
  double tolerance = 0;
  bool passed = false;
};

struct Phases {
  static const Description& Describe();
  double attention = 0;
  double cache_write = 0;
  double dense = 0;
  double bookkeeping = 0;
  double other = 0;
};

struct RequestSamples {
  static const Description& Describe();
  std::vector<double> arrival_s;
  std::vector<int64_t> input_lens;
  std::vector<int64_t> output_lens;
  std::vector<double> ttft_ms;
  std::vector<double> e2el_ms;
  std::vector<double> queue_ms;
  std::vector<int64_t> preemptions;
};

struct Samples {
  static const Description& Describe();
  std::vector<double> output_throughput;
  std::vector<double> duration;
  std::optional<RequestSamples> requests;
};

struct TimelinePoint {
  static const Description& Describe();
  double time_s = 0;
  int64_t running = 0;
  int64_t waiting = 0;
  int64_t live = 0;
  int64_t reserved = 0;
  int64_t overestimate = 0;
  int64_t rounding = 0;
  int64_t free = 0;
};

struct Operations {
  static const Description& Describe();
  int64_t operations = 0;
  int64_t pieces = 0;
  int64_t bytes = 0;
  double seconds = 0;
  std::optional<int64_t> checked;
};

struct RunRecord {
  static const Description& Describe();
  std::string label;
  int64_t repetition = 0;
  ModelInfo model;
  DesignInfo design;
  Limits limits;
  Window window;
  ExecutorInfo executor;
  TraceInfo trace;
  std::optional<RunOrigin> origin;

  double duration = 0;
  int64_t completed = 0;
  int64_t failed = 0;
  int64_t rejected = 0;
  std::vector<RejectedReason> rejected_reasons;
  int64_t total_input_tokens = 0;
  int64_t total_output_tokens = 0;
  std::optional<double> request_throughput;
  std::optional<double> output_throughput;
  std::optional<double> total_token_throughput;

  LatencyStats ttft;
  LatencyStats tpot;
  LatencyStats itl;
  LatencyStats e2el;
  LatencyStats queue;
  std::string percentile_method = "exact";
  std::optional<double> percentile_relative_error;
  std::optional<double> goodput;
  std::optional<double> normalized_latency_mean_s_per_token;

  std::optional<double> mean_running_requests;
  int64_t peak_running_requests = 0;
  std::optional<double> mean_waiting_requests;
  int64_t steps = 0;
  int64_t preemptions = 0;
  int64_t recomputed_tokens = 0;
  int64_t swapped_blocks = 0;
  std::optional<WhileWaiting> while_waiting;
  BoundBy bound_by;
  KvStats kv;
  std::optional<Verification> verification;
  std::optional<Phases> phases;
  std::optional<Operations> operations;
  std::vector<std::string> notes;
  Samples samples;
  std::vector<TimelinePoint> timeline;
};

struct ResultsFile {
  static constexpr const char* kSchemaVersion = "1.4";
  static const Description& Describe();
  KvbenchInfo kvbench;
  Environment environment;
  RunInfo run_info;
  std::vector<RunRecord> runs;
};

}  // namespace kvbench
