#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvbench {

/// A data file of workloads/ as built into the program, so that the binary stands alone. `name` is
/// the path below workloads/: "data/models.json", "suites/quick.json". Throws Error for a name that
/// is not there.
std::string_view EmbeddedData(std::string_view name);

/// The built-in suites, sorted: "quick" stands for workloads/suites/quick.json, "paper/fig2" for
/// workloads/suites/paper/fig2.json.
std::vector<std::string> SuiteNames();

/// One data file as EmbedFiles.cmake writes it at build time.
struct EmbeddedFile {
  const char* name;  ///< path below workloads/
  const unsigned char* bytes;
  size_t size;
};

/// All of them, sorted by name.
std::span<const EmbeddedFile> EmbeddedFiles();

}  // namespace kvbench
