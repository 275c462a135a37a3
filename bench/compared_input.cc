#include "bench/compared_input.h"

#include <fmt/format.h>

#include "bench/mapped_file.h"
#include "results/results_error.h"
#include "workloads/error.h"
#include "workloads/quoting.h"

namespace kvbench {

ComparedFile ReadComparedFile(const std::string& path, bool timeline) {
  MappedFile file(path);
  try {
    return ParseComparedFile(
        file.text(), ShownPath(path),
        {.timeline = timeline, .on_progress = [&](size_t bytes) { file.Release(bytes); }});
  } catch (const ResultsError& error) {
    throw Error(fmt::format("{}: {}", ShownPath(path), error.what()));
  }
}

}  // namespace kvbench
