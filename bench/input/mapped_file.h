#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kvbench {

/// A file's text that takes memory only as far as it is being read: results files may be larger
/// than memory should be. Pipes are read whole.
class MappedFile {
 public:
  /// Throws Error as ReadTextFile does.
  explicit MappedFile(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view text() const { return {data_, size_}; }

  /// Lets go of the memory behind the first so many bytes. They come back when looked at again.
  void Release(size_t bytes);

 private:
  char* mapped_ = nullptr;
  const char* data_ = nullptr;
  size_t size_ = 0;
  size_t released_ = 0;
  std::string read_;  ///< of what cannot be mapped
};

}  // namespace kvbench
