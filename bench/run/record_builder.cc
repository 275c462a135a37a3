#include "bench/run/record_builder.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "bench/designs/design_registry.h"
#include "bench/plan/model_info.h"
#include "bench/run/scheduler_names.h"
#include "results/record/label.h"
#include "results/table/binding.h"

namespace kvbench {

namespace {

constexpr double kPsPerSecond = 1e12;
constexpr double kPsPerMs = 1e9;

double AsDouble(Int128 value) { return static_cast<double>(value); }

std::optional<double> Ratio(double numerator, double denominator) {
  return denominator > 0 ? std::optional(numerator / denominator) : std::nullopt;
}

DesignInfo DescribeDesign(const FinishedRun& f) {
  DesignInfo info;
  info.name = f.cache.design();
  if (f.cache.block_size() > 0) {
    info.block_size = f.cache.block_size();
  }
  if (FindDesign(f.run.spec.design).axis == "growth") {
    info.growth = f.run.spec.growth;
  }
  info.capacity_slots = f.cache.capacity_slots();
  info.capacity_bytes = info.capacity_slots * f.run.slot_bytes;
  info.lost_bytes = f.run.kv_memory - info.capacity_bytes;
  return info;
}

Limits DescribeLimits(const FinishedRun& f) {
  const EngineLimits& l = f.run.spec.limits;
  const Design& design = FindDesign(f.run.spec.design);
  Limits limits;
  limits.scheduler = SchedulerName(l.scheduler);
  limits.chunked_prefill = l.chunked_prefill;
  limits.max_num_seqs = l.max_num_seqs;
  limits.max_num_batched_tokens = l.max_num_batched_tokens;
  limits.max_model_len = l.max_model_len;
  if (l.max_concurrency > 0) {
    limits.max_concurrency = l.max_concurrency;
  }
  limits.watermark = design.watermark;
  limits.preemption = design.preemption;
  return limits;
}

TraceInfo DescribeTrace(const FinishedRun& f) {
  const Trace& trace = f.run.trace->trace;
  TraceInfo info;
  info.name = trace.name;
  info.sha256 = f.trace_sha256;
  info.num_requests = f.metrics.arrived();
  if (trace.request_rate == "inf") {
    info.request_rate = std::numeric_limits<double>::infinity();
  } else if (!trace.request_rate.empty()) {
    info.request_rate = std::stod(trace.request_rate);
  }
  if (trace.seed >= 0) {
    info.seed = trace.seed;
  }
  info.source = trace.source;
  return info;
}

LatencyStats Describe(const LatencySamples& samples) {
  return StatisticsOf(samples, [](double ps) { return ps / kPsPerMs; });
}

/// Latencies and token counts of the requests inside the window.
void FillRequests(const Metrics& metrics, RunRecord& record) {
  for (const auto& [first, last] : metrics.excluded()) {
    record.window.excluded.requests.push_back({first, last});
  }
  const RequestSums& sums = metrics.requests();
  record.completed = sums.completed;
  record.rejected = sums.rejected;
  record.total_input_tokens = sums.input_tokens;
  record.total_output_tokens = sums.output_tokens;
  if (sums.last_completion_ps >= 0) {
    record.duration =
        static_cast<double>(sums.last_completion_ps - sums.first_arrival_ps) / kPsPerSecond;
  }
  record.request_throughput = Ratio(static_cast<double>(sums.completed), record.duration);
  record.output_throughput = Ratio(static_cast<double>(sums.output_tokens), record.duration);
  record.total_token_throughput =
      Ratio(static_cast<double>(sums.input_tokens + sums.output_tokens), record.duration);
  if (metrics.options().slo.any()) {
    record.goodput = Ratio(static_cast<double>(sums.met_slo), record.duration);
  }
  if (sums.completed > 0) {
    record.normalized_latency_mean_s_per_token =
        AsDouble(sums.normalized_ps) / kPsPerSecond / static_cast<double>(sums.completed);
  }
  record.ttft = Describe(metrics.ttft());
  record.tpot = Describe(metrics.tpot());
  record.itl = Describe(metrics.itl());
  record.e2el = Describe(metrics.e2el());
  record.queue = Describe(metrics.queue());
  if (!metrics.options().exact_percentiles) {
    record.percentile_method = "histogram";
    record.percentile_relative_error = LatencySamples::kHistogramError;
  }
}

UsageShares Shares(const UsageSums& sums) {
  const double all =
      AsDouble(sums.live + sums.reserved + sums.overestimate + sums.rounding + sums.free);
  return {AsDouble(sums.live) / all, AsDouble(sums.reserved) / all,
          AsDouble(sums.overestimate) / all, AsDouble(sums.rounding) / all,
          AsDouble(sums.free) / all};
}

KvStats DescribeKv(const FinishedRun& f) {
  KvStats kv;
  kv.peak_live_slots = f.metrics.peak_live_slots();
  kv.peak_allocated_slots = f.metrics.peak_allocated_slots();
  if (f.measured != nullptr) {
    kv.resident_bytes = f.measured->kv_bytes();
  }
  if (f.metrics.all().steps == 0 || f.cache.capacity_slots() == 0) {
    return kv;
  }
  const UsageSums& sums = f.metrics.usage_per_step();
  const UsageShares shares = Shares(sums);
  kv.usage_per_step = shares;
  if (f.metrics.all().time_ps > 0) {
    kv.usage_over_time = Shares(f.metrics.usage_over_time());
  }
  const double allocated = AsDouble(sums.live + sums.reserved + sums.overestimate + sums.rounding);
  kv.token_usage = shares.live;
  kv.block_usage = 1 - shares.free;
  kv.waste_of_capacity = 1 - shares.live;
  if (allocated > 0) {
    kv.waste_of_allocated = 1 - AsDouble(sums.live) / allocated;
  }
  kv.paper_fig2 = {.token_states = 100 * shares.live,
                   .reservation = 100 * shares.reserved,
                   .internal_fragmentation = 100 * shares.overestimate,
                   .external_and_others = 100 * (shares.rounding + shares.free)};
  return kv;
}

void FillSteps(const Metrics& metrics, RunRecord& record) {
  const StepSums& all = metrics.all();
  record.steps = all.steps;
  record.preemptions = metrics.preemptions();
  record.recomputed_tokens = metrics.recomputed_tokens();
  record.peak_running_requests = metrics.peak_running();
  const auto steps = static_cast<double>(all.steps);
  record.mean_running_requests = Ratio(AsDouble(all.running), steps);
  record.mean_waiting_requests = Ratio(AsDouble(all.waiting), steps);
  const auto share = [&](HeldBackBy by) {
    return Ratio(static_cast<double>(metrics.bound_by()[static_cast<size_t>(by)]), steps);
  };
  record.bound_by = {.memory = share(HeldBackBy::kMemory),
                     .sequences = share(HeldBackBy::kSequences),
                     .tokens = share(HeldBackBy::kTokens),
                     .nothing = share(HeldBackBy::kNothing)};
  const StepSums& waiting = metrics.while_waiting();
  if (waiting.steps > 0) {
    const double seconds = AsDouble(waiting.time_ps) / kPsPerSecond;
    record.while_waiting = {
        .steps = waiting.steps,
        .duration_s = seconds,
        .mean_running_requests = AsDouble(waiting.running) / static_cast<double>(waiting.steps),
        .output_throughput = Ratio(AsDouble(waiting.generated), seconds)};
  }
  for (const auto& [reason, count] : metrics.rejected()) {
    record.rejected_reasons.push_back({reason, count});
  }
  for (const TimelineSample& sample : metrics.timeline()) {
    record.timeline.push_back({.time_s = static_cast<double>(sample.time_ps) / kPsPerSecond,
                               .running = sample.running,
                               .waiting = sample.waiting,
                               .live = sample.usage.live,
                               .reserved = sample.usage.reserved,
                               .overestimate = sample.usage.overestimate,
                               .rounding = sample.usage.rounding,
                               .free = sample.usage.free});
  }
}

Operations DescribeOperations(const FinishedRun& f) {
  const OperationSums& sums = f.metrics.operations();
  Operations operations;
  operations.operations = sums.operations;
  operations.pieces = 2 * f.run.model.num_hidden_layers * sums.operations;
  operations.bytes = sums.tokens * f.run.slot_bytes;
  operations.seconds = AsDouble(sums.time_ps) / kPsPerSecond;
  if (f.measured != nullptr) {
    operations.checked = f.measured->kept_tokens().checked();
  }
  return operations;
}

Verification DescribeVerification(const FinishedRun& f) {
  const AttentionVerifier& verifier = f.measured->verifier();
  Verification verification;
  verification.checked = verifier.checked();
  verification.checked_layers = f.run.model.num_hidden_layers;  // a sampled row is checked in all
  verification.checked_256_keys = verifier.checked_long();
  verification.max_relative_error = verifier.max_relative_error();
  verification.tolerance = verifier.tolerance();
  verification.passed = verifier.passed();
  return verification;
}

RequestSamples DescribeRequests(const FinishedRun& f) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  RequestSamples samples;
  std::vector<RequestRow> rows = f.metrics.rows();
  std::sort(rows.begin(), rows.end(),
            [](const RequestRow& a, const RequestRow& b) { return a.index < b.index; });
  for (const RequestRow& row : rows) {
    const RequestOutcome& o = row.outcome;
    const auto since_arrival = [&](int64_t time_ps) {
      return time_ps < 0 ? kNone : static_cast<double>(time_ps - o.arrival_ps) / kPsPerMs;
    };
    samples.arrival_s.push_back(static_cast<double>(o.arrival_ps) / kPsPerSecond);
    samples.input_lens.push_back(row.prompt_tokens);
    samples.output_lens.push_back(o.finished_ps < 0 ? 0 : row.output_tokens);
    samples.ttft_ms.push_back(since_arrival(o.first_token_ps));
    samples.e2el_ms.push_back(since_arrival(o.finished_ps));
    samples.queue_ms.push_back(since_arrival(o.admitted_ps));
    samples.preemptions.push_back(o.preemptions);
  }
  return samples;
}

}  // namespace

RunRecord BuildRecord(const FinishedRun& f) {
  RunRecord record;
  record.repetition = f.repetition;
  record.model =
      DescribeModel(f.run.model, f.run.spec.kv_cache_dtype, f.run.dtype,
                    f.measured != nullptr ? f.measured->weight_bytes() : f.run.weight_bytes);
  record.design = DescribeDesign(f);
  record.limits = DescribeLimits(f);
  const MetricsWindow& window = f.run.spec.window;
  if (window.from_ps > 0) {
    record.window.from_s = static_cast<double>(window.from_ps) / kPsPerSecond;
  }
  if (window.to_ps < std::numeric_limits<int64_t>::max()) {
    record.window.to_s = static_cast<double>(window.to_ps) / kPsPerSecond;
  }
  record.executor.kind = f.run.spec.executor;
  if (f.run.spec.on_gpu()) {
    record.executor.hardware = f.run.device->properties().name;
  } else if (f.measured != nullptr) {
    record.executor.threads = f.threads;
  } else {
    record.executor.hardware = f.run.machine->hardware.name;
    record.executor.calibration = f.run.machine->calibration.name;
    record.executor.tensor_parallel_size = f.run.spec.tensor_parallel_size;
    record.executor.roofs = f.run.machine->roofs;
  }
  record.executor.repetitions = f.repetitions;
  record.executor.dense = f.run.spec.dense;
  if (f.measured != nullptr) {
    record.executor.attention_kernel = f.measured->attention_kernel();
  }
  record.trace = DescribeTrace(f);
  FillRequests(f.metrics, record);
  FillSteps(f.metrics, record);
  if (f.cache.acts()) {
    record.operations = DescribeOperations(f);
  }
  record.kv = DescribeKv(f);
  if (f.measured != nullptr) {
    if (f.measured->verifier().checked() > 0) {
      record.verification = DescribeVerification(f);
    }
    const PhaseTotals& phases = f.measured->phases();
    record.phases = {.attention = phases.attention,
                     .cache_write = phases.cache_write,
                     .dense = phases.dense,
                     .bookkeeping = phases.bookkeeping,
                     .other = phases.other};
  } else if (f.run.model.num_sliding_window_layers > 0) {
    record.notes.push_back(
        "sliding-window layers are charged and read like full ones: every slot holds all layers");
  }
  if (record.output_throughput) {
    record.samples.output_throughput = {*record.output_throughput};
  }
  record.samples.duration = {record.duration};
  if (f.detailed) {
    record.samples.requests = DescribeRequests(f);
  }
  if (std::string note = MemoryNote(record); !note.empty()) {
    record.notes.push_back(std::move(note));
  }
  record.label = MakeLabel(record);
  return record;
}

}  // namespace kvbench
