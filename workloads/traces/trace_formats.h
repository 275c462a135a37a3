#pragma once

#include <string_view>
#include <vector>

#include "workloads/traces/trace_builder.h"
#include "workloads/traces/trace_reader.h"

namespace kvbench {

/// What reads one kind of file. It is defined in a file of its own and named below.
struct TraceReader {
  /// Reads a text that is not blank into the builder; false where the text is of another kind.
  /// `columns` is TraceReadOptions::columns, which only CSV has. Throws Error as ReadTrace does.
  bool (*read)(std::string_view text, std::string_view columns, TraceBuilder& builder);
  /// What it reads, for help, error sentences and tests.
  std::vector<TraceFormat> (*formats)();
};

// All readers, in the order in which they are asked.
#define KVBENCH_TRACE_READERS(READER) \
  READER(kJsonLinesReader)            \
  READER(kCsvReader)

#define KVBENCH_DECLARE_READER(name) extern const TraceReader name;
KVBENCH_TRACE_READERS(KVBENCH_DECLARE_READER)
#undef KVBENCH_DECLARE_READER

}  // namespace kvbench
