#include "bench/record_builder.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bench/design_registry.h"
#include "results/binding.h"
#include "results/label.h"
#include "results/statistics.h"

namespace kvbench {

namespace {

constexpr double kPsPerSecond = 1e12;
constexpr double kPsPerMs = 1e9;

double AsDouble(Int128 value) { return static_cast<double>(value); }

std::optional<double> Ratio(double numerator, double denominator) {
  return denominator > 0 ? std::optional(numerator / denominator) : std::nullopt;
}

ModelInfo DescribeModel(const FinishedRun& f) {
  const ModelShape& m = f.run.model;
  ModelInfo info;
  info.name = m.name;
  info.attention = AttentionName(m.attention);
  info.num_hidden_layers = m.num_hidden_layers;
  info.hidden_size = m.hidden_size;
  info.num_attention_heads = m.num_attention_heads;
  info.num_key_value_heads = m.num_key_value_heads;
  info.head_dim = m.head_dim;
  info.kv_cache_dtype = DtypeName(f.run.spec.kv_cache_dtype);
  info.dtype = DtypeName(f.run.spec.dtype);
  info.kv_bytes_per_token = f.run.kv_bytes_per_token;
  info.weight_bytes = f.executor.weight_bytes();
  return info;
}

DesignInfo DescribeDesign(const FinishedRun& f) {
  DesignInfo info;
  info.name = f.cache.design();
  if (f.cache.block_size() > 0) {
    info.block_size = f.cache.block_size();
  }
  info.capacity_slots = f.cache.capacity_slots();
  info.capacity_bytes = info.capacity_slots * f.run.kv_bytes_per_token;
  info.lost_bytes = f.run.spec.kv_memory - info.capacity_bytes;
  return info;
}

Limits DescribeLimits(const FinishedRun& f) {
  const EngineLimits& l = f.run.spec.limits;
  const Design& design = FindDesign(f.run.spec.design);
  Limits limits;
  limits.scheduler = f.run.spec.scheduler;
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
  info.sha256 = f.run.trace->digest;
  info.num_requests = static_cast<int64_t>(trace.requests.size());
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

/// Latencies and token counts of the requests inside the window.
void FillRequests(const FinishedRun& f, RunRecord& record) {
  const std::vector<Request>& requests = f.run.trace->trace.requests;
  std::vector<double> ttft;
  std::vector<double> tpot;
  std::vector<double> e2el;
  std::vector<double> queue;
  std::vector<double> normalized;
  int64_t first_arrival = -1;
  int64_t last_completion = -1;
  for (size_t i = 0; i < requests.size(); ++i) {
    const RequestOutcome& o = f.metrics.outcomes()[i];
    const int64_t arrival = f.metrics.ArrivalPs(static_cast<int64_t>(i));
    const bool inside = f.metrics.window().Contains(arrival);
    if (!inside) {
      std::vector<IndexRange>& excluded = record.window.excluded.requests;
      const auto index = static_cast<int64_t>(i);
      if (!excluded.empty() && excluded.back().last == index - 1) {
        excluded.back().last = index;
      } else {
        excluded.push_back({index, index});
      }
      continue;
    }
    first_arrival = first_arrival < 0 ? arrival : first_arrival;
    if (o.rejected) {
      ++record.rejected;
    }
    if (o.finished_ps < 0) {
      continue;
    }
    const int64_t output = requests[i].output_tokens;
    ++record.completed;
    record.total_input_tokens += requests[i].prompt_tokens;
    record.total_output_tokens += output;
    last_completion = std::max(last_completion, o.finished_ps);
    const double first = static_cast<double>(o.first_token_ps - arrival);
    const double all = static_cast<double>(o.finished_ps - arrival);
    ttft.push_back(first / kPsPerMs);
    e2el.push_back(all / kPsPerMs);
    queue.push_back(static_cast<double>(o.admitted_ps - arrival) / kPsPerMs);
    normalized.push_back(all / kPsPerSecond / static_cast<double>(output));
    if (output > 1) {
      tpot.push_back(static_cast<double>(o.finished_ps - o.first_token_ps) / kPsPerMs /
                     static_cast<double>(output - 1));
    }
  }
  if (last_completion >= 0) {
    record.duration = static_cast<double>(last_completion - first_arrival) / kPsPerSecond;
  }
  record.request_throughput = Ratio(static_cast<double>(record.completed), record.duration);
  record.output_throughput =
      Ratio(static_cast<double>(record.total_output_tokens), record.duration);
  record.total_token_throughput = Ratio(
      static_cast<double>(record.total_input_tokens + record.total_output_tokens), record.duration);
  record.normalized_latency_mean_s_per_token = Mean(normalized);
  record.ttft = Summarize(std::move(ttft));
  record.tpot = Summarize(std::move(tpot));
  record.e2el = Summarize(std::move(e2el));
  record.queue = Summarize(std::move(queue));
  std::vector<double> itl;
  itl.reserve(f.metrics.itl_ps().size());
  for (const int64_t gap : f.metrics.itl_ps()) {
    itl.push_back(static_cast<double>(gap) / kPsPerMs);
  }
  record.itl = Summarize(std::move(itl));
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
  kv.resident_bytes = f.executor.kv_bytes();
  if (f.metrics.all().steps == 0) {
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

Verification DescribeVerification(const FinishedRun& f) {
  const AttentionVerifier& verifier = f.executor.verifier();
  Verification verification;
  verification.checked = verifier.checked();
  verification.checked_layers = f.run.model.num_hidden_layers;  // a sampled row is checked in all
  verification.checked_256_keys = verifier.checked_long();
  verification.max_relative_error = verifier.max_relative_error();
  verification.tolerance = AttentionVerifier::kTolerance;
  verification.passed = verifier.passed();
  return verification;
}

RequestSamples DescribeRequests(const FinishedRun& f) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  RequestSamples samples;
  const std::vector<Request>& requests = f.run.trace->trace.requests;
  for (size_t i = 0; i < requests.size(); ++i) {
    const RequestOutcome& o = f.metrics.outcomes()[i];
    const int64_t arrival = f.metrics.ArrivalPs(static_cast<int64_t>(i));
    const auto since_arrival = [&](int64_t time_ps) {
      return time_ps < 0 ? kNone : static_cast<double>(time_ps - arrival) / kPsPerMs;
    };
    samples.arrival_s.push_back(static_cast<double>(arrival) / kPsPerSecond);
    samples.input_lens.push_back(requests[i].prompt_tokens);
    samples.output_lens.push_back(o.finished_ps < 0 ? 0 : requests[i].output_tokens);
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
  record.model = DescribeModel(f);
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
  record.executor.threads = f.threads;
  record.executor.repetitions = f.repetitions;
  record.executor.dense = f.run.spec.dense;
  record.trace = DescribeTrace(f);
  FillRequests(f, record);
  FillSteps(f.metrics, record);
  record.kv = DescribeKv(f);
  if (f.executor.verifier().checked() > 0) {
    record.verification = DescribeVerification(f);
  }
  const PhaseTotals& phases = f.executor.phases();
  record.phases = {.attention = phases.attention,
                   .cache_write = phases.cache_write,
                   .dense = phases.dense,
                   .bookkeeping = phases.bookkeeping,
                   .other = phases.other};
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
