#pragma once

#include <string_view>

#include "bench/engine/limits.h"

namespace kvbench {

/// "continuous", "static", "faster-transformer".
std::string_view SchedulerName(SchedulerKind kind);

/// Throws Error listing the names for one that is not there.
SchedulerKind FindScheduler(std::string_view name);

}  // namespace kvbench
