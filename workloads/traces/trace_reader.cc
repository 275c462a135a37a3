#include "workloads/traces/trace_reader.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "base/quoting.h"
#include "base/text_file.h"
#include "workloads/traces/trace_formats.h"

namespace kvbench {
namespace {

struct CsvFormat {
  bool (*recognises)(const CsvText& csv);
  void (*read)(const CsvText& csv, TraceBuilder& builder);
};

constexpr CsvFormat kCsvFormats[] = {
    {IsAzure, ReadAzure},
    {IsBurstGpt, ReadBurstGpt},
    {IsInputOutputPairs, ReadInputOutputPairs},
    {IsPrefillDecodePairs, ReadPrefillDecodePairs},
};

constexpr std::string_view kKnownFormats =
    "readable are JSON lines (timestamp, input_length, output_length), the CSV files of Azure, "
    "BurstGPT "
    "and vidur, input_tokens,output_tokens, and any other CSV with --columns";

void ReadKnownCsv(const CsvText& csv, TraceBuilder& builder) {
  for (const CsvFormat& format : kCsvFormats) {
    if (format.recognises(csv)) {
      format.read(csv, builder);
      return;
    }
  }
  builder.Fail(1, fmt::format("the format of a file that begins with {} is not known; {}",
                              Quoted(csv.text.substr(0, csv.text.find_first_of("\r\n")), 60),
                              kKnownFormats));
}

}  // namespace

Trace ReadTraceText(std::string_view text, const std::string& display_name,
                    const TraceReadOptions& options) {
  TraceBuilder builder(display_name, options);
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    builder.Fail("the file is empty; a trace has one request a line");
  }
  if (options.columns.empty() && IsJsonLines(text)) {
    ReadJsonLines(text, builder);
  } else {
    CsvText csv{text, {}};
    CsvReader header(text, builder);
    header.Next();
    csv.header = header.fields();
    if (options.columns.empty()) {
      ReadKnownCsv(csv, builder);
    } else {
      ReadByColumns(csv, options.columns, builder);
    }
  }
  return std::move(builder).Finish();
}

Trace ReadTrace(const std::string& path, const TraceReadOptions& options) {
  return ReadTraceText(ReadTextFile(path), path, options);
}

}  // namespace kvbench
