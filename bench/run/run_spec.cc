#include "bench/run/run_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "bench/designs/design_registry.h"
#include "bench/run/scheduler_names.h"
#include "kernels/cpu/attention_kernel.h"
#include "results/record/words.h"
#include "workloads/traces/trace_reader.h"

namespace kvbench {

namespace {

constexpr int64_t kMostTokens = int64_t{1} << 30;

constexpr std::string_view kWhat = "What runs";
constexpr std::string_view kLimits = "Limits, the same for every design";
constexpr std::string_view kRequests = "Requests: a trace file, or lengths and arrivals";
constexpr std::string_view kHow = "How it runs";

int64_t Tokens(const std::string& text) {
  const int64_t tokens = ParseInteger(text, 1);
  if (tokens > kMostTokens) {
    throw Error(fmt::format("'{}' is too large: at most {}", text, kMostTokens));
  }
  return tokens;
}

void SetBlockSize(RunSpec& spec, const std::string& text) {
  const int64_t size = ParseInteger(text, 1);
  if (size > 256 || !std::has_single_bit(static_cast<uint64_t>(size))) {
    throw Error(fmt::format("'{}' is not a block size: powers of two from 1 to 256 are", text));
  }
  spec.block_size = static_cast<int32_t>(size);
}

void SetGrowth(RunSpec& spec, const std::string& text) {
  if (text != "double" && text != "concat") {
    throw Error(fmt::format("'{}' is not a growth: there are double and concat", text));
  }
  spec.growth = text;
}

void SetScheduler(RunSpec& spec, const std::string& text) {
  spec.limits.scheduler = FindScheduler(text);
}

void SetExecutor(RunSpec& spec, const std::string& text) {
  if (std::find(kExecutorWords.begin(), kExecutorWords.end(), text) == kExecutorWords.end()) {
    throw Error(fmt::format("unknown executor '{}': there are cpu, cuda and modelled", text));
  }
  spec.executor = text;
}

std::string AttentionKernelHelp() {
  std::string names = "of the cpu executor: auto (by shape and instruction set)";
  for (const CpuAttentionKernel* kernel : CpuAttentionKernels()) {
    names += ", " + std::string(kernel->name);
  }
  return names + " [auto]";
}

void SetAttentionKernel(RunSpec& spec, const std::string& text) {
  CheckCpuAttentionKernelName(text);
  spec.attention_kernel = text;
}

void SetUtilization(RunSpec& spec, const std::string& text) {
  spec.gpu_memory_utilization = ParseNumber(text);
  if (spec.gpu_memory_utilization <= 0 || spec.gpu_memory_utilization > 1) {
    throw Error(fmt::format("'{}' is not a share of the memory: above 0, at most 1", text));
  }
}

void SetSlo(RunSpec& spec, const std::string& text) {
  spec.slo = {};
  const std::pair<std::string_view, int64_t Slo::*> kGoals[] = {
      {"ttft=", &Slo::ttft_ps}, {"tpot=", &Slo::tpot_ps}, {"e2el=", &Slo::e2el_ps}};
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string goal = text.substr(begin, end - begin);
    begin = end + 1;
    const auto found = std::find_if(std::begin(kGoals), std::end(kGoals), [&](const auto& known) {
      return goal.starts_with(known.first);
    });
    if (found == std::end(kGoals)) {
      throw Error(fmt::format(
          "'{}' is not a goal: write ttft=500ms, tpot=50ms or e2el=10s, separated by commas",
          goal));
    }
    spec.slo.*(found->second) = ParsePicoseconds(goal.substr(found->first.size()));
  }
}

void SetRate(RunSpec& spec, const std::string& text) {
  if (text == "inf") {
    spec.rate = std::numeric_limits<double>::infinity();
    return;
  }
  spec.rate = ParseNumber(text);
  if (spec.rate <= 0) {
    throw Error(fmt::format("'{}' is not a rate: requests per second above 0, or inf", text));
  }
}

void SetFindRate(RunSpec& spec, const std::string& text) {
  constexpr std::string_view kLatency = "normalized_latency=";
  constexpr std::string_view kShare = "slo=";
  spec.find_rate = {};
  if (text.starts_with(kLatency)) {
    const int64_t ps = ParsePicoseconds(text.substr(kLatency.size()));
    if (ps == 0) {
      throw Error("no request takes 0 s a token: give normalized_latency=0.5s");
    }
    spec.find_rate.kind = RateGoal::Kind::kNormalizedLatency;
    spec.find_rate.s_per_token = static_cast<double>(ps) / 1e12;
  } else if (text == "slo" || text.starts_with(kShare)) {
    spec.find_rate.kind = RateGoal::Kind::kSlo;
    if (text != "slo") {
      spec.find_rate.share = ParseNumber(text.substr(kShare.size()));
    }
    if (spec.find_rate.share <= 0 || spec.find_rate.share > 1) {
      throw Error(fmt::format("'{}' is not a share of the requests: above 0, at most 1", text));
    }
  } else {
    throw Error(fmt::format(
        "'{}' is not a goal of a rate search: write normalized_latency=0.5s, slo or slo=0.99",
        text));
  }
}

void SetRateTolerance(RunSpec& spec, const std::string& text) {
  spec.rate_tolerance = ParseNumber(text);
  if (spec.rate_tolerance < 1e-4 || spec.rate_tolerance > 0.5) {
    throw Error(fmt::format("'{}' is not a relative tolerance from 0.0001 to 0.5", text));
  }
}

void SetWindow(RunSpec& spec, const std::string& text) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos) {
    throw Error(fmt::format("'{}' is not a window: write FROM..TO, for example 10s..60s", text));
  }
  const std::string from = text.substr(0, dots);
  const std::string to = text.substr(dots + 2);
  spec.window = {};
  if (!from.empty()) {
    spec.window.from_ps = ParsePicoseconds(from);
  }
  if (!to.empty()) {
    spec.window.to_ps = ParsePicoseconds(to);
  }
  if (spec.window.from_ps >= spec.window.to_ps) {
    throw Error(fmt::format("'{}' is an empty window: FROM must lie before TO", text));
  }
}

}  // namespace

const std::vector<RunField>& RunFields() {
  static const std::vector<RunField> kFields = {
      {"model", "NAME|FILE", kWhat, "built-in model, or a Hugging Face config.json [twin-mha]",
       [](RunSpec& s, const std::string& v) { s.model = v; }},
      {"design", "NAME", kWhat,
       "contiguous-max, contiguous-pow2, contiguous-oracle, contiguous-growing, paged, none "
       "[paged]",
       [](RunSpec& s, const std::string& v) { s.design = std::string(FindDesign(v).name); }},
      {"block-size", "N", kWhat, "slots of a block, paged designs only: 1, 2, 4, ... 256 [16]",
       &SetBlockSize},
      {"growth", "NAME", kWhat,
       "contiguous-growing only: double (move to a chunk twice as large when full) or concat "
       "(move for every token) [double]",
       &SetGrowth},
      {"kv-cache-dtype", "TYPE", kWhat,
       "float16 or bfloat16; cpu also float32 and int8, modelled also fp8 [float16]",
       [](RunSpec& s, const std::string& v) { s.kv_cache_dtype = ParseDtype(v); }},
      {"dtype", "TYPE", kWhat,
       "of the weights; cpu has float32 and bfloat16, cuda float16 and bfloat16 [cpu: float32; "
       "else float16]",
       [](RunSpec& s, const std::string& v) { s.dtype = ParseDtype(v); }},
      {"kv-memory", "SIZE", kWhat,
       "bytes for the KV cache, for example 12GiB [256MiB; modelled: what the memory plan leaves]",
       [](RunSpec& s, const std::string& v) { s.kv_memory = ParseBytes(v); }},
      {"gpu-memory-utilization", "SHARE", kWhat, "of the memory plan, modelled only [0.95]",
       &SetUtilization},
      {"tensor-parallel-size", "N", kWhat, "devices that share the model, modelled only [1]",
       [](RunSpec& s, const std::string& v) { s.tensor_parallel_size = ParseInteger(v, 1); }},
      {"max-model-len", "N", kLimits, "prompt + output tokens of a request at most [2048]",
       [](RunSpec& s, const std::string& v) { s.limits.max_model_len = Tokens(v); }},
      {"max-num-seqs", "N", kLimits, "requests that run at one time at most [256]",
       [](RunSpec& s, const std::string& v) { s.limits.max_num_seqs = Tokens(v); }},
      {"max-num-batched-tokens", "N", kLimits, "tokens of a step at most [2560]",
       [](RunSpec& s, const std::string& v) { s.limits.max_num_batched_tokens = Tokens(v); }},
      {"scheduler", "NAME", kLimits,
       "continuous, or modelled only static (padded batches) and faster-transformer [continuous]",
       &SetScheduler},
      {"chunked-prefill", "on|off", kLimits, "spread long prompts over several steps [on]",
       [](RunSpec& s, const std::string& v) { s.limits.chunked_prefill = ParseOnOff(v); }},
      {"max-concurrency", "N", kLimits, "requests that the client keeps in flight, 0: no cap [0]",
       [](RunSpec& s, const std::string& v) { s.limits.max_concurrency = ParseInteger(v, 0); }},
      {"trace", "FILE", kRequests, "the requests: " + ReadableTraces(),
       [](RunSpec& s, const std::string& v) { s.trace = v; }},
      {"limit", "N", kRequests, "first N requests of the file, 0: all [0]",
       [](RunSpec& s, const std::string& v) { s.limit = ParseInteger(v, 0); }},
      {"columns", "SPEC", kRequests, "of other CSV: arrival=NAME:unit,prompt=NAME,output=NAME",
       [](RunSpec& s, const std::string& v) { s.columns = v; }, false},
      {"lengths", "SPEC", kRequests,
       "sharegpt, sharegpt-pairs, alpaca, azure-conv, azure-code, arxiv, "
       "fixed:prompt=128:output=64, uniform:..., "
       "lognormal:...; each with :scale=0.25, :cap=N",
       [](RunSpec& s, const std::string& v) { s.lengths = v; }},
      {"arrivals", "SPEC", kRequests,
       "poisson, gamma:cv=2, constant, all-at-once, file:speed=2 [the file's; for lengths poisson "
       "with a rate, else all-at-once]",
       [](RunSpec& s, const std::string& v) { s.arrivals = v; }},
      {"rate", "R", kRequests, "requests/s of generated arrivals", &SetRate},
      {"requests", "N", kRequests, "requests to generate [100]",
       [](RunSpec& s, const std::string& v) { s.requests = Tokens(v); }},
      {"duration", "TIME", kRequests, "generate those that arrive within it, instead of --requests",
       [](RunSpec& s, const std::string& v) { s.duration_ps = ParsePicoseconds(v); }},
      {"seed", "N", kRequests, "of the generators [0]",
       [](RunSpec& s, const std::string& v) { s.seed = ParseInteger(v, 0); }},
      {"executor", "NAME", kHow,
       "cpu and cuda (an NVIDIA GPU) run every step, modelled computes its time from --hardware "
       "[cpu]",
       &SetExecutor},
      {"hardware", "NAME|FILE", kHow, "a GPU such as a100-sxm4-40gb, modelled only",
       [](RunSpec& s, const std::string& v) { s.hardware = v; }},
      {"calibration", "NAME", kHow, "what is reached of its peaks, modelled only [its own]",
       [](RunSpec& s, const std::string& v) { s.calibration = v; }},
      {"threads", "N", kHow, "of the cpu executor, 0: all cores [0]",
       [](RunSpec& s, const std::string& v) { s.threads = ParseInteger(v, 0); }},
      {"dense", "on|off", kHow, "off runs attention and cache work alone [on]",
       [](RunSpec& s, const std::string& v) { s.dense = ParseOnOff(v); }},
      {"attention-kernel", "NAME", kHow, AttentionKernelHelp(), &SetAttentionKernel},
      {"window", "FROM..TO", kHow,
       "take means and percentiles inside it only, for example 10s..60s", &SetWindow},
      {"slo", "GOALS", kHow, "count goodput: requests within ttft=500ms,tpot=50ms,e2el=10s",
       &SetSlo, false},
      {"find-rate", "GOAL", kHow,
       "modelled only: search the highest --rate that holds normalized_latency=0.5s, or (slo) at "
       "which 99 % of the requests, or slo=SHARE of them, meet every --slo goal",
       &SetFindRate},
      {"rate-tolerance", "SHARE", kHow, "how near to it the search comes, relative [0.01]",
       &SetRateTolerance},
  };
  return kFields;
}

std::vector<std::string> ExpandValues(const std::vector<std::string>& values) {
  std::vector<std::string> expanded;
  for (const std::string& value : values) {
    const size_t dots = value.find("..");
    const size_t step_sign = value.find_first_of("+*", dots == std::string::npos ? 0 : dots);
    if (dots == std::string::npos || step_sign == std::string::npos) {
      expanded.push_back(value);
      continue;
    }
    const double first = ParseNumber(std::string_view(value).substr(0, dots));
    const double last = ParseNumber(std::string_view(value).substr(dots + 2, step_sign - dots - 2));
    const double step = ParseNumber(std::string_view(value).substr(step_sign + 1));
    const bool factor = value[step_sign] == '*';
    if (factor ? (step <= 1 || first <= 0) : step <= 0) {
      throw Error(
          fmt::format("'{}' is a range that never ends: write 1..4+0.5 or 1..256*2", value));
    }
    double current = first;
    for (int64_t i = 1; current <= last * (1 + 1e-12); ++i) {
      if (i > 10'000) {
        throw Error(fmt::format("'{}' has more than 10,000 values", value));
      }
      expanded.push_back(fmt::format("{:.12g}", current));
      current = factor ? current * step : first + static_cast<double>(i) * step;
    }
  }
  return expanded;
}

std::vector<std::string> SplitValues(const RunField& field, const std::string& text) {
  if (!field.is_list) {
    return {text};
  }
  std::vector<std::string> values;
  size_t begin = 0;
  while (true) {
    const size_t comma = text.find(',', begin);
    values.push_back(text.substr(begin, comma - begin));
    if (comma == std::string::npos) {
      break;
    }
    begin = comma + 1;
  }
  try {
    return ExpandValues(values);
  } catch (const Error& error) {
    throw Error(fmt::format("--{}: {}", field.name, error.what()));
  }
}

std::vector<RunSpec> ExpandRuns(const AxisValues& axes) {
  std::vector<RunSpec> specs(1);
  for (const RunField& field : RunFields()) {
    const auto found = axes.find(field.name);
    if (found == axes.end()) {
      continue;
    }
    std::vector<RunSpec> next;
    for (const RunSpec& base : specs) {
      const bool applies =
          std::none_of(Designs().begin(), Designs().end(),
                       [&](const Design& design) { return design.axis == field.name; }) ||
          FindDesign(base.design).axis == field.name;
      for (const std::string& value : found->second) {
        RunSpec spec = base;
        try {
          field.set(spec, value);
        } catch (const Error& error) {
          throw Error(fmt::format("--{}: {}", field.name, error.what()), error.kind());
        }
        next.push_back(applies ? spec : base);
        if (!applies) {
          break;
        }
      }
    }
    specs = std::move(next);
  }
  return specs;
}

}  // namespace kvbench
