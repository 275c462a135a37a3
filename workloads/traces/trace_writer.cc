#include "workloads/traces/trace_writer.h"

#include <fmt/format.h>

#include <iterator>
#include <ostream>

namespace kvbench {
namespace {

/// Nanoseconds as milliseconds: 1250000 -> "1.25".
void AppendMilliseconds(int64_t ns, fmt::memory_buffer& out) {
  constexpr int64_t kNsPerMs = 1'000'000;
  fmt::format_to(std::back_inserter(out), "{}", ns / kNsPerMs);
  int64_t fraction = ns % kNsPerMs;
  if (fraction == 0) {
    return;
  }
  int digits = 6;
  while (fraction % 10 == 0) {
    fraction /= 10;
    --digits;
  }
  fmt::format_to(std::back_inserter(out), ".{:0{}}", fraction, digits);
}

}  // namespace

void WriteTrace(const Trace& trace, std::ostream& out) {
  fmt::memory_buffer line;
  for (const Request& request : trace.requests) {
    line.clear();
    const auto end = std::back_inserter(line);
    line.push_back('{');
    if (trace.has_arrivals) {
      fmt::format_to(end, "\"timestamp\": ");
      AppendMilliseconds(request.arrival_ns, line);
      fmt::format_to(end, ", ");
    }
    fmt::format_to(end, "\"input_length\": {}, \"output_length\": {}", request.prompt_tokens,
                   request.output_tokens);
    if (!request.prefix_ids.empty()) {
      fmt::format_to(end, ", \"hash_ids\": [{}]", fmt::join(request.prefix_ids, ", "));
    }
    fmt::format_to(end, "}}\n");
    out.write(line.data(), static_cast<std::streamsize>(line.size()));
  }
}

}  // namespace kvbench
