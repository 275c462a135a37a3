#include "workloads/traces/trace_reader.h"

#include "base/text_file.h"
#include "workloads/traces/trace_formats.h"

namespace kvbench {
namespace {

#define KVBENCH_LISTED_READER(name) &name,
constexpr const TraceReader* kReaders[] = {KVBENCH_TRACE_READERS(KVBENCH_LISTED_READER)};
#undef KVBENCH_LISTED_READER

}  // namespace

std::vector<TraceFormat> TraceFormats() {
  std::vector<TraceFormat> all;
  for (const TraceReader* reader : kReaders) {
    for (TraceFormat& format : reader->formats()) {
      all.push_back(std::move(format));
    }
  }
  return all;
}

std::string ReadableTraces() {
  std::string names;
  for (const TraceFormat& format : TraceFormats()) {
    names += format.name + ", ";
  }
  return names + "any other CSV with --columns";
}

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
  for (const TraceReader* reader : kReaders) {
    if (reader->read(text, options.columns, builder)) {
      break;  // the last reader takes every text
    }
  }
  return std::move(builder).Finish();
}

Trace ReadTrace(const std::string& path, const TraceReadOptions& options) {
  return ReadTraceText(ReadTextFile(path), path, options);
}

}  // namespace kvbench
