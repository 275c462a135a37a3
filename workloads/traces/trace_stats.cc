#include "workloads/traces/trace_stats.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

namespace kvbench {
namespace {

double Percentile(const std::vector<int64_t>& sorted, double p) {
  const double position = p / 100.0 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return static_cast<double>(sorted[below]) +
         share * static_cast<double>(sorted[above] - sorted[below]);
}

LengthStats StatsOf(std::vector<int64_t> lengths) {
  std::sort(lengths.begin(), lengths.end());
  double sum = 0;
  for (const int64_t length : lengths) {
    sum += static_cast<double>(length);
  }
  return {sum / static_cast<double>(lengths.size()), Percentile(lengths, 50),
          Percentile(lengths, 90), Percentile(lengths, 99), lengths.back()};
}

void AddArrivalStats(const Trace& trace, TraceStats& stats) {
  constexpr double kNsPerSecond = 1e9;
  const std::vector<Request>& requests = trace.requests;
  const int64_t span_ns = requests.back().arrival_ns - requests.front().arrival_ns;
  if (!trace.has_arrivals || span_ns == 0) {
    return;
  }
  stats.span_s = static_cast<double>(span_ns) / kNsPerSecond;
  const double gaps = static_cast<double>(requests.size() - 1);
  stats.rate = gaps / *stats.span_s;
  const double mean = static_cast<double>(span_ns) / gaps;
  double squares = 0;
  for (size_t i = 1; i < requests.size(); ++i) {
    const double deviation =
        static_cast<double>(requests[i].arrival_ns - requests[i - 1].arrival_ns) - mean;
    squares += deviation * deviation;
  }
  stats.gap_cv = std::sqrt(squares / gaps) / mean;
}

}  // namespace

TraceStats ComputeTraceStats(const Trace& trace) {
  TraceStats stats;
  stats.requests = static_cast<int64_t>(trace.requests.size());
  std::vector<int64_t> prompts;
  std::vector<int64_t> outputs;
  std::unordered_set<int64_t> distinct;
  int64_t references = 0;
  for (const Request& request : trace.requests) {
    prompts.push_back(request.prompt_tokens);
    outputs.push_back(request.output_tokens);
    distinct.insert(request.prefix_ids.begin(), request.prefix_ids.end());
    references += static_cast<int64_t>(request.prefix_ids.size());
  }
  stats.prompt = StatsOf(std::move(prompts));
  stats.output = StatsOf(std::move(outputs));
  if (references > 0) {
    stats.prefix_reuse =
        1.0 - static_cast<double>(distinct.size()) / static_cast<double>(references);
  }
  AddArrivalStats(trace, stats);
  return stats;
}

}  // namespace kvbench
