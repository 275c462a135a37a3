#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/gpu/conformance.h"
#include "bench/gpu/decode_bench.h"
#include "kernels/cuda/device.h"

namespace kvbench::gpu {

/// Clocks of a GPU at some moment, in MHz.
struct GpuClocks {
  int64_t sm_mhz = 0;
  int64_t memory_mhz = 0;
};

/// What stands at the head of a file, whatever was measured.
struct ReportHead {
  std::string command;     ///< the whole command line
  std::string what;        ///< "conformance", "decode", "vllm-v1"
  std::string started_at;  ///< RFC 3339, UTC
  double duration_s = 0;
  std::optional<double> budget_s;
  bool complete = false;  ///< nothing is missing
  std::optional<GpuClocks> clocks_before;
  std::optional<GpuClocks> clocks_after;
};

/// One JSON object; docs/gpu.md names the keys. What is unknown is null.
nlohmann::ordered_json ConformanceReport(const ReportHead& head, const DeviceProperties& device,
                                         const ConformanceResult& result);
nlohmann::ordered_json DecodeReport(const ReportHead& head, const DeviceProperties& device,
                                    const DecodeBenchOptions& options,
                                    const std::vector<DecodeResult>& results);

/// One line of progress: "GQA-4 paged-16 8192 x 32: 123.4 us, 3,210 GB/s, 91.0 % of the roof".
std::string DecodeLine(const DecodeResult& result, int64_t roof_bytes);

/// Tables for people, at most 100 columns.
std::string ConformanceTable(const ConformanceResult& result);
std::string DecodeTable(const std::vector<DecodeResult>& results, int64_t roof_bytes);
/// Figure 18a: a line for each context and batch, microseconds of each kernel and layout.
std::string Fig18aTable(const std::vector<DecodeResult>& results);

}  // namespace kvbench::gpu
