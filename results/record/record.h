#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kvbench {

// What a run produced, as plain data. One struct for each JSON object, members in the order of the
// file and named as its keys; `results/schema/results.schema.json` is the same list with types. An
// empty optional is `null`, and so is a double that is NaN or infinite (except request_rate).

/// The program that wrote the file.
struct KvbenchInfo {
  std::string version;  ///< "0.1.0"
  std::optional<std::string> commit;
  std::string build_type;  ///< "Release"
  std::string compiler;    ///< name and version
  std::optional<std::string> cuda_version;
};

struct GpuInfo {
  std::string name;
  std::optional<int64_t> memory_bytes;
  std::optional<std::string> driver;
  std::optional<std::string> compute_capability;  ///< "9.0"
  std::optional<int64_t> l2_bytes;
};

/// The machine that the program ran on.
struct Environment {
  std::optional<std::string> os;
  std::optional<std::string> cpu_model;
  std::optional<std::string> cpu_isa;  ///< the instruction set that the kernels chose: "AVX2"
  std::optional<int64_t> cores;
  std::optional<int64_t> memory_bytes;
  std::optional<std::string> boot_id;  ///< random, the same until the machine starts anew
  std::optional<GpuInfo> gpu;
  /// Measured, never from a data sheet: with as many threads as the measured run that has most.
  std::optional<double> read_roof_bytes_per_s;
  std::optional<double> read_roof_spread;  ///< of it: (90th - 10th percentile) / median
};

/// One invocation of the program.
struct RunInfo {
  std::string command;               ///< the whole command line, ready to be repeated
  std::optional<std::string> suite;  ///< its name
  std::string started_at;            ///< RFC 3339, UTC: "2025-01-31T12:00:00Z"
  double duration_s = 0;             ///< wall clock
  bool complete = true;              ///< false: interrupted, some runs are missing
};

/// A model shape with the dtypes of this run.
struct ModelInfo {
  std::string name;
  std::string attention;  ///< "MHA", "GQA", "MQA" or "MLA"
  int64_t num_hidden_layers = 0;
  int64_t hidden_size = 0;
  int64_t num_attention_heads = 0;
  int64_t num_key_value_heads = 0;
  int64_t head_dim = 0;
  std::string kv_cache_dtype;  ///< "float16", "bfloat16", "float32", "fp8", "int8"
  std::string dtype;           ///< of the weights
  int64_t kv_bytes_per_token = 0;
  int64_t weight_bytes = 0;
};

/// A design and how many slots it got. The KV budget is capacity_bytes + lost_bytes.
struct DesignInfo {
  std::string name;                   ///< "paged", "contiguous-max", ...
  std::optional<int64_t> block_size;  ///< tokens; null for contiguous designs
  std::optional<std::string> growth;  ///< "double" or "concat"; null for designs that do not move
  int64_t capacity_slots = 0;         ///< whole blocks
  int64_t capacity_bytes = 0;
  int64_t lost_bytes = 0;  ///< of the budget, too few for one more block or chunk
};

/// The same for every design of a comparison.
struct Limits {
  std::string scheduler;  ///< "continuous" or "static"
  bool chunked_prefill = true;
  int64_t max_num_seqs = 0;
  int64_t max_num_batched_tokens = 0;
  int64_t max_model_len = 0;               ///< tokens
  std::optional<int64_t> max_concurrency;  ///< requests in flight of a closed loop
  double watermark = 0;                    ///< share of the blocks that admission leaves free: 0.01
  std::string preemption;                  ///< "recompute", "swap" or "none"
};

/// Requests first..last of the trace, both included, counted from 0.
struct IndexRange {
  int64_t first = 0;
  int64_t last = 0;
};

/// What the means and percentiles leave out, told by position in the trace or by phase, never by a
/// clock.
struct Excluded {
  std::vector<IndexRange> requests;
  std::vector<std::string> phases;  ///< "warmup", ...
};

/// Every mean and percentile of the run is taken inside it.
struct Window {
  std::optional<double> from_s;  ///< on the run's own clock
  std::optional<double> to_s;
  Excluded excluded;
};

/// What a run that is modelled on this machine's CPU rests on: measured around the run that it
/// predicts.
struct MeasuredRoofs {
  double read_bytes_per_s = 0;
  double read_spread = 0;        ///< (90th - 10th percentile) / median
  double dense_flops_per_s = 0;  ///< dense layers at 32 rows
};

struct ExecutorInfo {
  std::string kind;  ///< "cpu" and "cuda" measure, "modelled" computes
  std::optional<std::string>
      hardware;  ///< the description a modelled figure rests on, or the device
  std::optional<int64_t> threads;
  int64_t repetitions = 1;  ///< that were asked for
  bool dense = true;        ///< false: attention and cache work alone, no dense layers
  std::optional<std::string> calibration;       ///< modelled: what is reached of the peaks
  std::optional<int64_t> tensor_parallel_size;  ///< modelled: devices
  std::optional<MeasuredRoofs> roofs;           ///< modelled on this machine's CPU
};

struct TraceInfo {
  std::string name;
  std::string sha256;  ///< [64 hexadecimal digits]
  int64_t num_requests = 0;
  std::optional<double> request_rate;  ///< 1/s; infinity: all at once, written as "inf"
  std::optional<int64_t> seed;
  std::string source;                    ///< a path, or the generator's parameters in words
  std::string prefix_reuse = "ignored";  ///< until a design reuses prefixes
};

/// Of a run in a merged file: the invocation and machine that it comes from.
struct RunOrigin {
  std::string started_at;  ///< RFC 3339, UTC
  std::string command;
  std::optional<std::string> commit;
  std::optional<std::string> cpu_model;
  std::optional<int64_t> cores;
  std::optional<std::string> boot_id;
  std::optional<GpuInfo> gpu;
  std::optional<double> read_roof_bytes_per_s;
  std::optional<double> read_roof_spread;
};

/// Why requests were refused, and how many of them for that reason.
struct RejectedReason {
  std::string
      reason;  ///< a sentence without numbers of a single request, so that equal reasons add up
  int64_t count = 0;
};

/// Statistics of one latency in milliseconds; all null where nothing was measured. Written flat
/// into the run as mean_ttft_ms, p99_ttft_ms and so on.
struct LatencyStats {
  std::optional<double> mean;
  std::optional<double> median;
  std::optional<double> std;  ///< of the population (ddof 0)
  std::optional<double> p50;
  std::optional<double> p90;
  std::optional<double> p95;
  std::optional<double> p99;
  std::optional<double> max;
};

/// The run's figures over those steps alone that left requests waiting.
struct WhileWaiting {
  int64_t steps = 0;
  double duration_s = 0;  ///< sum of these steps' times
  std::optional<double> mean_running_requests;
  std::optional<double> output_throughput;  ///< tokens/s
};

/// What held admission back, in fractions of all steps that add up to 1; null without steps.
struct BoundBy {
  std::optional<double> memory;
  std::optional<double> sequences;  ///< max_num_seqs or max_concurrency
  std::optional<double> tokens;     ///< max_num_batched_tokens
  std::optional<double> nothing;    ///< no request was waiting
};

/// Where the slots of the cache were on average, in shares of the capacity that add up to 1.
struct UsageShares {
  double live = 0;
  double reserved = 0;
  double overestimate = 0;
  double rounding = 0;
  double free = 0;
};

/// The vLLM paper's figure 2 by its own definitions, in percent of the KV memory.
struct PaperFig2 {
  double token_states = 0;
  double reservation = 0;
  double internal_fragmentation = 0;
  double external_and_others = 0;  ///< rounding + free
};

struct KvStats {
  std::optional<UsageShares> usage_per_step;   ///< one weight for each step
  std::optional<UsageShares> usage_over_time;  ///< weighted by step time
  std::optional<double> token_usage;           ///< live / capacity, per step
  std::optional<double> block_usage;           ///< (capacity - free) / capacity, per step
  std::optional<double> waste_of_capacity;     ///< 1 - live / capacity, a ratio of sums
  std::optional<double> waste_of_allocated;    ///< 1 - live / (capacity - free), a ratio of sums
  int64_t peak_live_slots = 0;
  int64_t peak_allocated_slots = 0;
  std::optional<int64_t> resident_bytes;  ///< of the pools, as the operating system sees them
  std::optional<PaperFig2> paper_fig2;
};

/// Sampled attention outputs against the reference kernel, taken with the clock stopped.
struct Verification {
  int64_t checked = 0;                       ///< output rows
  int64_t checked_layers = 0;                ///< different layers that they came from
  int64_t checked_256_keys = 0;              ///< of the checked, those with 256 keys or more
  std::optional<double> max_relative_error;  ///< max |a-b| / max |b| of an output row
  double tolerance = 0;
  bool passed = false;
};

/// What the design had done to bytes: tokens copied to other slots. A piece is K or V of one layer.
struct Operations {
  int64_t operations = 0;
  int64_t pieces = 0;
  int64_t bytes = 0;               ///< copied: each is read and written once
  double seconds = 0;              ///< of the steps' times; measured, part of phases.other
  std::optional<int64_t> checked;  ///< measured: tokens compared with what they were before
};

/// Where a measured run's time went, in seconds.
struct Phases {
  double attention = 0;
  double cache_write = 0;
  double dense = 0;
  double bookkeeping = 0;  ///< scheduler, caches, metrics
  double other = 0;
};

/// One array for each quantity; entry i belongs to request i of the trace, in arrival order. Where
/// a request has no such value (rejected, never finished) it is NaN, written as null.
struct RequestSamples {
  std::vector<double> arrival_s;
  std::vector<int64_t> input_lens;   ///< tokens
  std::vector<int64_t> output_lens;  ///< tokens generated
  std::vector<double> ttft_ms;
  std::vector<double> e2el_ms;
  std::vector<double> queue_ms;
  std::vector<int64_t> preemptions;
};

/// Raw values, kept so that statistics can be redone.
struct Samples {
  std::vector<double> output_throughput;  ///< tokens/s, [1]: this repetition's
  std::vector<double> duration;           ///< seconds, [1]
  std::optional<RequestSamples>
      requests;  ///< on --detailed; its arrays are written beside the two above
};

/// The engine after one step. The five parts are slots and add up to capacity_slots exactly.
struct TimelinePoint {
  double time_s = 0;
  int64_t running = 0;
  int64_t waiting = 0;
  int64_t live = 0;
  int64_t reserved = 0;
  int64_t overestimate = 0;
  int64_t rounding = 0;
  int64_t free = 0;
};

/// One repetition of one run.
struct RunRecord {
  std::string label;  ///< MakeLabel: all axes in a fixed template
  int64_t repetition = 0;
  ModelInfo model;
  DesignInfo design;
  Limits limits;
  Window window;
  ExecutorInfo executor;
  TraceInfo trace;
  std::optional<RunOrigin> origin;  ///< null: this invocation

  double duration = 0;  ///< seconds from first arrival to last completion, on the run's own clock
  int64_t completed = 0;
  int64_t failed = 0;
  int64_t rejected = 0;
  std::vector<RejectedReason> rejected_reasons;
  int64_t total_input_tokens = 0;                ///< of completed requests
  int64_t total_output_tokens = 0;               ///< of completed requests
  std::optional<double> request_throughput;      ///< requests/s
  std::optional<double> output_throughput;       ///< tokens/s
  std::optional<double> total_token_throughput;  ///< tokens/s, input and output

  LatencyStats ttft;   ///< from scheduled arrival to first token
  LatencyStats tpot;   ///< (e2el - ttft) / (O - 1); requests with one output token have none
  LatencyStats itl;    ///< between neighbouring tokens of a request: O - 1 values each
  LatencyStats e2el;   ///< from scheduled arrival to last token
  LatencyStats queue;  ///< from scheduled arrival to first admission
  std::string percentile_method = "exact";  ///< "exact" (type 7) or "histogram"
  std::optional<double>
      percentile_relative_error;  ///< bound on a histogram's error; null when exact
  std::optional<double> goodput;  ///< requests/s that met every SLO given
  std::optional<double> normalized_latency_mean_s_per_token;

  std::optional<double> mean_running_requests;
  int64_t peak_running_requests = 0;
  std::optional<double> mean_waiting_requests;
  int64_t steps = 0;
  int64_t preemptions = 0;
  int64_t recomputed_tokens = 0;
  int64_t swapped_blocks = 0;
  std::optional<WhileWaiting> while_waiting;  ///< null: no step left a request waiting
  BoundBy bound_by;
  std::optional<Operations> operations;  ///< null: the design has none
  KvStats kv;
  std::optional<Verification> verification;
  std::optional<Phases> phases;
  std::vector<std::string> notes;  ///< sentences for the reader
  Samples samples;
  std::vector<TimelinePoint> timeline;  ///< at most 1,000 points, chosen by step index
};

/// What a results file holds.
struct ResultsFile {
  static constexpr const char* kSchemaVersion = "1.4";
  KvbenchInfo kvbench;
  Environment environment;
  RunInfo run_info;
  std::vector<RunRecord> runs;
};

}  // namespace kvbench
