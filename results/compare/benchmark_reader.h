#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "results/compare/compared_file.h"

namespace kvbench {

/// Reads the JSON of Google Benchmark (`kvbench_micro --benchmark_format=json`) into a
/// ComparedFile: one run for each repetition of each benchmark; its aggregates are left out.
/// Metrics are real_time_ns, cpu_time_ns and the counters. roof_bytes_per_s, or else
/// fma_flops_per_s, is the roof that was measured between the iterations.
class BenchmarkReader {
 public:
  explicit BenchmarkReader(ComparedFile& file) : file_(file) {}

  /// An element of `benchmarks`. Throws Error, which calls it `name`.
  void Add(const nlohmann::json& benchmark, const std::string& name);
  /// All of them are there; `head` has the file's other members, `context` among them. Throws
  /// Error where only aggregates were.
  void Finish(const nlohmann::json& head);

 private:
  ComparedFile& file_;
  bool aggregates_ = false;                     // some were left out
  std::map<std::string, int64_t> repetitions_;  // so far, for those that do not say
};

}  // namespace kvbench
