#pragma once

#include <cstdint>

#include "results/json/json_value.h"

namespace kvbench {

/// The minor version of a results file from its `schema_version`; any of this program's major
/// version can be read. Throws Error for another one, and for null.
int64_t MinorVersion(const JsonValue& schema_version);

}  // namespace kvbench
