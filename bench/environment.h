#pragma once

#include "results/record.h"

namespace kvbench {

/// This machine, as far as it can be told; what cannot is empty.
Environment DescribeEnvironment();

/// This program.
KvbenchInfo DescribeProgram();

/// The time now in UTC as RFC 3339: "2025-01-31T12:00:00Z".
std::string TimestampNow();

}  // namespace kvbench
