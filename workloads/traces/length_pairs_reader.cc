#include "workloads/traces/trace_formats.h"

namespace kvbench {

bool IsInputOutputPairs(const CsvText& csv) {
  return csv.Has("input_tokens") || csv.Has("output_tokens");
}

void ReadInputOutputPairs(const CsvText& csv, TraceBuilder& builder) {
  ReadCsv(csv, {.arrival = "", .prompt = "input_tokens", .output = "output_tokens"}, builder);
}

bool IsPrefillDecodePairs(const CsvText& csv) {
  return csv.Has("num_prefill_tokens") || csv.Has("num_decode_tokens");
}

void ReadPrefillDecodePairs(const CsvText& csv, TraceBuilder& builder) {
  ReadCsv(csv,
          {.arrival = csv.Has("arrived_at") ? "arrived_at" : "",
           .unit = TimeUnit::kSeconds,
           .prompt = "num_prefill_tokens",
           .output = "num_decode_tokens"},
          builder);
}

}  // namespace kvbench
