#pragma once

#include <string_view>

#include "workloads/traces/csv.h"
#include "workloads/traces/trace_builder.h"

// The readers that ReadTrace chooses from; each is one file and one line in trace_reader.cc. A CSV
// reader claims a file by one of its column names that no other format has, so that a missing
// column is told by its name.

namespace kvbench {

/// JSON lines: Mooncake's format and our own.
bool IsJsonLines(std::string_view text);
void ReadJsonLines(std::string_view text, TraceBuilder& builder);

/// Azure/AzurePublicDataset: TIMESTAMP,ContextTokens,GeneratedTokens.
bool IsAzure(const CsvText& csv);
void ReadAzure(const CsvText& csv, TraceBuilder& builder);

/// HPMLL/BurstGPT: Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type.
bool IsBurstGpt(const CsvText& csv);
void ReadBurstGpt(const CsvText& csv, TraceBuilder& builder);

/// input_tokens,output_tokens: lengths alone.
bool IsInputOutputPairs(const CsvText& csv);
void ReadInputOutputPairs(const CsvText& csv, TraceBuilder& builder);

/// microsoft/vidur: num_prefill_tokens,num_decode_tokens, sometimes with arrived_at (s).
bool IsPrefillDecodePairs(const CsvText& csv);
void ReadPrefillDecodePairs(const CsvText& csv, TraceBuilder& builder);

/// Any CSV, by a spec such as "arrival=sent at:ms,prompt=in,output=out"
/// (TraceReadOptions::columns).
void ReadByColumns(const CsvText& csv, std::string_view columns, TraceBuilder& builder);

}  // namespace kvbench
