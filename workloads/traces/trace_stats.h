#pragma once

#include <cstdint>
#include <optional>

#include "workloads/traces/request.h"

namespace kvbench {

/// Tokens a request, over all requests of a trace. Percentiles interpolate linearly between order
/// statistics (type 7).
struct LengthStats {
  double mean = 0, p50 = 0, p90 = 0, p99 = 0;
  int64_t max = 0;
};

/// What `kvbench trace stats` shows.
struct TraceStats {
  int64_t requests = 0;
  LengthStats prompt, output;
  /// Nothing without arrivals, or where all requests arrive at once (span 0).
  std::optional<double> span_s;  ///< first to last arrival
  std::optional<double> rate;    ///< 1 / mean gap, 1/s
  std::optional<double> gap_cv;  ///< standard deviation / mean of the gaps between arrivals
  /// Share of the prefix ids that stood in the trace before; nothing without prefix ids.
  std::optional<double> prefix_reuse;
};

/// Precondition: the trace has a request.
TraceStats ComputeTraceStats(const Trace& trace);

}  // namespace kvbench
