#include "results/record/label.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "base/text.h"

namespace kvbench {
namespace {

constexpr size_t kDigestDigits = 12;

std::string OnOff(bool value) { return value ? "on" : "off"; }

std::string OrNone(const std::optional<int64_t>& value) {
  return value ? fmt::format("{}", *value) : "none";
}

/// The shortest text that reads back to the same double.
std::string OrNone(const std::optional<double>& value) {
  return value && !std::isnan(*value) ? fmt::format("{}", *value) : "none";
}

/// A name from outside may hold anything: a label is split at spaces, and at the first '=' of each
/// part.
std::string Word(const std::string& text) {
  std::string word = text.empty() ? "none" : text;
  for (char& c : word) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      c = '_';
    }
  }
  return word;
}

std::string WindowText(const Window& window) {
  if (!window.from_s && !window.to_s) {
    return "all";
  }
  return (window.from_s ? OrNone(window.from_s) : "") + ".." +
         (window.to_s ? OrNone(window.to_s) : "") + "s";
}

}  // namespace

std::vector<Axis> RunAxes(const RunRecord& run) {
  const Limits& limits = run.limits;
  const bool modelled = run.executor.kind == "modelled";
  return {
      {"model", Word(run.model.name)},
      {"design", Word(run.design.name)},
      {"block-size", OrNone(run.design.block_size)},
      {"growth", Word(run.design.growth.value_or(""))},
      {"kv-cache-dtype", Word(run.model.kv_cache_dtype)},
      {"dtype", Word(run.model.dtype)},
      {"kv-memory", fmt::format("{}B", run.design.capacity_bytes + run.design.lost_bytes)},
      {"max-model-len", fmt::format("{}", limits.max_model_len)},
      {"max-num-seqs", fmt::format("{}", limits.max_num_seqs)},
      {"max-num-batched-tokens", fmt::format("{}", limits.max_num_batched_tokens)},
      {"scheduler", Word(limits.scheduler)},
      {"chunked-prefill", OnOff(limits.chunked_prefill)},
      {"preemption", Word(limits.preemption)},
      {"watermark", OrNone(std::optional(limits.watermark))},
      {"max-concurrency", OrNone(limits.max_concurrency)},
      {"executor", Word(run.executor.kind)},
      {"hardware", modelled ? Word(run.executor.hardware.value_or("")) : "none"},
      {"calibration", modelled ? Word(run.executor.calibration.value_or("")) : "none"},
      {"tensor-parallel-size", OrNone(run.executor.tensor_parallel_size)},
      {"threads", OrNone(run.executor.threads)},
      {"dense", OnOff(run.executor.dense)},
      {"trace", Word(run.trace.name) + "/" + run.trace.sha256.substr(0, kDigestDigits)},
      {"rate", OrNone(run.trace.request_rate)},
      {"seed", OrNone(run.trace.seed)},
      {"window", WindowText(run.window)},
  };
}

std::string DesignText(const DesignInfo& design) {
  const std::string name = PrintableAscii(design.name);
  return design.block_size ? fmt::format("{}/{}", name, *design.block_size)
         : design.growth   ? fmt::format("{}/{}", name, PrintableAscii(*design.growth))
                           : name;
}

std::string MakeLabel(const RunRecord& run) {
  std::string label;
  for (const Axis& axis : RunAxes(run)) {
    // Not where it does not apply: labels from before there was such a design stay the same.
    if (axis.name != "growth" || run.design.growth) {
      label += (label.empty() ? "" : " ") + axis.name + "=" + axis.value;
    }
  }
  return label;
}

bool HasParts(const std::string& label, const std::vector<std::string>& parts) {
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return (" " + label + " ").find(" " + part + " ") != std::string::npos;
  });
}

}  // namespace kvbench
