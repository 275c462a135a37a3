#include "bench/run/scheduler_names.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.h"

namespace kvbench {

namespace {

constexpr std::array<std::pair<std::string_view, SchedulerKind>, 3> kNames = {{
    {"continuous", SchedulerKind::kContinuous},
    {"static", SchedulerKind::kStatic},
    {"faster-transformer", SchedulerKind::kFasterTransformer},
}};

}  // namespace

std::string_view SchedulerName(SchedulerKind kind) {
  for (const auto& [name, known] : kNames) {
    if (known == kind) {
      return name;
    }
  }
  return "?";
}

SchedulerKind FindScheduler(std::string_view name) {
  for (const auto& [known, kind] : kNames) {
    if (known == name) {
      return kind;
    }
  }
  throw Error(fmt::format(
      "unknown scheduler '{}': there are continuous, static and faster-transformer", name));
}

}  // namespace kvbench
