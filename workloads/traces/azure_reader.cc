#include "workloads/traces/trace_formats.h"

namespace kvbench {

bool IsAzure(const CsvText& csv) { return csv.Has("ContextTokens") || csv.Has("GeneratedTokens"); }

void ReadAzure(const CsvText& csv, TraceBuilder& builder) {
  ReadCsv(csv,
          {.arrival = "TIMESTAMP",
           .unit = TimeUnit::kTimestamp,
           .prompt = "ContextTokens",
           .output = "GeneratedTokens"},
          builder);
}

}  // namespace kvbench
