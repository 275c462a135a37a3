#pragma once

#include "results/json/json_value.h"
#include "results/record/record.h"

namespace kvbench {

// The objects of a results file from JSON. All throw Error, which names the key.

void Read(const JsonValue& value, KvbenchInfo& out);
void Read(const JsonValue& value, Environment& out);
void Read(const JsonValue& value, RunInfo& out);
void Read(const JsonValue& value, RunOrigin& out);
/// All but the timeline, which timeline_reader.h reads.
void Read(const JsonValue& value, RunRecord& out);

}  // namespace kvbench
