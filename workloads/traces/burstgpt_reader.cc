#include "workloads/traces/trace_formats.h"

namespace kvbench {

bool IsBurstGpt(const CsvText& csv) {
  return csv.Has("Request tokens") || csv.Has("Response tokens");
}

void ReadBurstGpt(const CsvText& csv, TraceBuilder& builder) {
  ReadCsv(csv,
          {.arrival = "Timestamp",
           .unit = TimeUnit::kSeconds,
           .prompt = "Request tokens",
           .output = "Response tokens",
           .zero_means_failed = true},
          builder);
}

}  // namespace kvbench
