#include "base/text_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/quoting.h"

namespace kvbench {
namespace {

[[noreturn]] void FailToRead(const std::string& path, std::string_view reason) {
  throw Error(fmt::format("cannot read {}: {}", ShownPath(path), reason));
}

}  // namespace

std::string ReadTextFile(const std::string& path, size_t max_bytes) {
  if (path.empty()) {
    throw Error("cannot read a file without a name; give a path");
  }
  struct stat info {};
  if (path.find('\0') != std::string::npos || stat(path.c_str(), &info) != 0) {
    FailToRead(path, std::strerror(errno));
  }
  if (S_ISDIR(info.st_mode)) {
    FailToRead(path, "it is a folder; give the path of a file");
  }
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode)) {
    // A device such as /dev/zero may never end.
    FailToRead(path, "it is a device; give the path of a file");
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) {
    FailToRead(path, std::strerror(errno));
  }
  std::string text;
  if (S_ISREG(info.st_mode) && info.st_size > 0) {
    text.reserve(std::min(static_cast<size_t>(info.st_size), max_bytes));
  }
  char buffer[65536];
  size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof(buffer), file.get())) > 0) {
    if (text.size() + got > max_bytes) {
      FailToRead(path, fmt::format("it is larger than {} bytes", max_bytes));
    }
    text.append(buffer, got);
  }
  if (std::ferror(file.get()) != 0) {
    FailToRead(path, std::strerror(errno));
  }
  return text;
}

std::string FileStem(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

}  // namespace kvbench
