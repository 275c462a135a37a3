#pragma once

#include <cstdint>
#include <string>

#include "results/record/record.h"

namespace kvbench {

/// This machine, as far as it can be told; what cannot is empty.
Environment DescribeEnvironment();

/// This program.
KvbenchInfo DescribeProgram();

/// A time in seconds since 1970 as RFC 3339: "2025-01-31T12:00:00Z".
std::string Timestamp(int64_t seconds);

/// The time now in UTC, likewise.
std::string TimestampNow();

}  // namespace kvbench
