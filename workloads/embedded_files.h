#pragma once

#include <cstddef>
#include <span>

namespace kvbench {

/// One data file as EmbedFiles.cmake writes it at build time.
struct EmbeddedFile {
  const char* name;  ///< path below workloads/
  const unsigned char* bytes;
  size_t size;
};

/// All of them, sorted by name. For embedded_data.cc; others call EmbeddedData.
std::span<const EmbeddedFile> EmbeddedFiles();

}  // namespace kvbench
