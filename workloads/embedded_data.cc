#include "workloads/embedded_data.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/quoting.h"

namespace kvbench {

std::string_view EmbeddedData(std::string_view name) {
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (name == file.name) {
      return {reinterpret_cast<const char*>(file.bytes), file.size};
    }
  }
  throw Error(fmt::format("no data file {} is built into this program", Quoted(name)));
}

std::vector<std::string> SuiteNames() {
  constexpr std::string_view kFolder = "suites/";
  constexpr std::string_view kEnding = ".json";
  std::vector<std::string> names;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    std::string_view name = file.name;
    if (name.starts_with(kFolder)) {
      name.remove_prefix(kFolder.size());
      name.remove_suffix(kEnding.size());
      names.emplace_back(name);
    }
  }
  return names;
}

}  // namespace kvbench
