#include "bench/run/scheduler_names.h"

#include <fmt/format.h>

#include "base/error.h"
#include "results/record/words.h"

namespace kvbench {

std::string_view SchedulerName(SchedulerKind kind) {
  return kSchedulerWords.at(static_cast<size_t>(kind));
}

SchedulerKind FindScheduler(std::string_view name) {
  for (size_t kind = 0; kind < kSchedulerWords.size(); ++kind) {
    if (kSchedulerWords[kind] == name) {
      return static_cast<SchedulerKind>(kind);
    }
  }
  throw Error(fmt::format(
      "unknown scheduler '{}': there are continuous, static and faster-transformer", name));
}

}  // namespace kvbench
