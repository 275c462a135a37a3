#include "bench/compare/compared_input.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/quoting.h"
#include "bench/compare/mapped_file.h"

namespace kvbench {

ComparedFile ReadComparedFile(const std::string& path, bool timeline) {
  MappedFile file(path);
  try {
    return ParseComparedFile(
        file.text(), ShownPath(path),
        {.timeline = timeline, .on_progress = [&](size_t bytes) { file.Release(bytes); }});
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", ShownPath(path), error.what()));
  }
}

}  // namespace kvbench
