#pragma once

#include <string>

namespace kvbench {

/// The whole of a regular file or a pipe as bytes. Throws Error where there is no such file, it is
/// a directory or a device, it cannot be read, or it is larger than `max_bytes`.
std::string ReadTextFile(const std::string& path, size_t max_bytes = size_t{1} << 32);

/// "dir/trace.csv" -> "trace": the short name of what a file holds.
std::string FileStem(const std::string& path);

}  // namespace kvbench
