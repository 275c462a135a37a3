#include "results/record/exact_fields.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace kvbench {
namespace {

/// Whether a path is that key or lies below it.
bool Below(std::string_view path, std::string_view key) {
  return path.starts_with(key) && (path.size() == key.size() || path[key.size()] == '.');
}

bool BelowAny(std::string_view path, std::initializer_list<std::string_view> keys) {
  return std::any_of(keys.begin(), keys.end(),
                     [&](std::string_view key) { return Below(path, key); });
}

}  // namespace

RunKind KindOf(const nlohmann::json& run) {
  const nlohmann::json& executor = run.at("executor");
  if (executor.at("kind") == "modelled") {
    return executor.value("hardware", nlohmann::json()) == "cpu" ? RunKind::kPredicted
                                                                 : RunKind::kModelled;
  }
  // A window in time lets in other requests each time.
  const nlohmann::json& window = run.at("window");
  const bool whole = window.value("from_s", nlohmann::json()).is_null() &&
                     window.value("to_s", nlohmann::json()).is_null();
  const bool at_once = run.at("trace").value("request_rate", nlohmann::json()) == "inf";
  return whole && at_once ? RunKind::kAllAtOnce : RunKind::kTimed;
}

bool IsTiming(std::string_view key) {
  constexpr std::array<std::string_view, 3> kOthers = {"duration", "goodput",
                                                       "normalized_latency_mean_s_per_token"};
  return key.ends_with("_ms") || key.ends_with("throughput") ||
         std::find(kOthers.begin(), kOthers.end(), key) != kOthers.end();
}

bool MustBeEqual(RunKind kind, std::string_view path) {
  // How the runs are joined, words for the reader, and what is not the run's but the invocation's.
  if (BelowAny(path, {"label", "repetition", "notes", "samples", "timeline", "origin",
                      "executor.repetitions", "executor.threads", "trace.source"})) {
    return false;
  }
  switch (kind) {
    case RunKind::kModelled:
      return true;
    case RunKind::kPredicted:
    case RunKind::kAllAtOnce:
      return !IsTiming(path) &&
             !BelowAny(path, {"while_waiting.duration_s", "while_waiting.output_throughput",
                              "kv.usage_over_time", "kv.resident_bytes", "operations.seconds",
                              "executor.hardware", "executor.roofs", "phases",
                              "verification.max_relative_error"});
    case RunKind::kTimed:
      return BelowAny(path, {"model", "design", "limits", "trace.sha256", "completed", "failed",
                             "rejected", "verification.passed"});
    case RunKind::kBenchmark:
      return false;
  }
  return false;
}

}  // namespace kvbench
