#include "results/table/table_heading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace kvbench {
namespace {

/// Collects the parts of a line that do not vary in the group.
class Heading {
 public:
  explicit Heading(const TableGroup& group) : group_(group) {}

  void Add(const char* axis, const std::string& text) {
    if (!group_.Varies(axis)) {
      parts_ += (parts_.empty() ? "" : ", ") + text;
    }
  }
  void EndLine(const char* name, GroupHeading& heading) const {
    if (!parts_.empty()) {
      heading.lines.push_back({name, parts_});
    }
  }

 private:
  const TableGroup& group_;
  std::string parts_;
};

std::string RateText(const TraceInfo& trace) {
  if (!trace.request_rate || std::isnan(*trace.request_rate)) {
    return "arrivals as in the trace";
  }
  return std::isinf(*trace.request_rate) ? "all at once"
                                         : fmt::format("{} a second", *trace.request_rate);
}

}  // namespace

GroupHeading DescribeGroup(const TableGroup& group) {
  const RunRecord& run = group.rows.front().run();
  const ModelInfo& model = run.model;
  const Limits& limits = run.limits;
  GroupHeading heading;
  heading.title =
      fmt::format("{}, trace {}", PrintableAscii(model.name), PrintableAscii(run.trace.name));

  Heading shape(group);
  shape.Add("model", fmt::format("{}, {} layers, {} query / {} KV heads of {}", model.attention,
                                 model.num_hidden_layers, model.num_attention_heads,
                                 model.num_key_value_heads, model.head_dim));
  shape.Add("kv-cache-dtype", fmt::format("KV {} {} B a token", model.kv_cache_dtype,
                                          Thousands(model.kv_bytes_per_token)));
  shape.Add("dtype", "weights " + model.dtype);
  shape.EndLine("model", heading);

  Heading trace(group);
  trace.Add("trace", Thousands(run.trace.num_requests) + " requests");
  trace.Add("rate", RateText(run.trace));
  if (run.trace.seed) {
    trace.Add("seed", fmt::format("seed {}", *run.trace.seed));
  }
  trace.Add("trace", "sha256 " + run.trace.sha256.substr(0, 12));
  trace.EndLine("trace", heading);

  int64_t slots = 0;
  for (const TableRow& row : group.rows) {
    slots = std::max(slots, row.run().design.capacity_slots);
  }
  Heading limit(group);
  // The same bytes are as many slots as the dtype says.
  const std::string as_slots =
      group.Varies("kv-cache-dtype") ? "" : fmt::format(" = {} slots", Thousands(slots));
  limit.Add("kv-memory",
            Bytes(run.design.capacity_bytes + run.design.lost_bytes) + " KV" + as_slots);
  limit.Add("max-num-seqs", Thousands(limits.max_num_seqs) + " sequences");
  limit.Add("max-num-batched-tokens", Thousands(limits.max_num_batched_tokens) + " tokens a step");
  limit.Add("max-model-len", Thousands(limits.max_model_len) + " a sequence");
  if (limits.max_concurrency) {
    limit.Add("max-concurrency", Thousands(*limits.max_concurrency) + " requests in flight");
  }
  limit.EndLine("limits", heading);

  Heading how(group);
  const ExecutorInfo& executor = run.executor;
  how.Add("executor",
          executor.kind == "modelled" ? "modelled, not measured" : executor.kind + ", measured");
  if (executor.hardware) {
    how.Add("hardware", PrintableAscii(*executor.hardware));
  }
  if (executor.threads) {
    how.Add("threads",
            fmt::format("{} thread{}", *executor.threads, *executor.threads == 1 ? "" : "s"));
  }
  how.Add("dense", executor.dense ? "dense layers on" : "dense layers off");
  how.Add("scheduler", limits.scheduler + " batching");
  how.Add("chunked-prefill", limits.chunked_prefill ? "chunked prefill" : "whole prompts");
  how.EndLine("run", heading);
  return heading;
}

}  // namespace kvbench
