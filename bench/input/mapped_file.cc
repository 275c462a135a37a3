#include "bench/input/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_file.h"

namespace kvbench {
namespace {

constexpr size_t kReleaseStep = size_t{1} << 25;  // a multiple of every page size

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info {};
  if (descriptor >= 0 && fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) &&
      info.st_size > 0) {
    void* mapped =
        mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped != MAP_FAILED) {
      mapped_ = static_cast<char*>(mapped);
      data_ = mapped_;
      size_ = static_cast<size_t>(info.st_size);
      madvise(mapped_, size_, MADV_SEQUENTIAL);
    }
  }
  if (descriptor >= 0) {
    close(descriptor);
  }
  if (mapped_ == nullptr) {
    // Says what is wrong with the path, too.
    read_ = ReadTextFile(path);
    data_ = read_.data();
    size_ = read_.size();
  }
}

MappedFile::~MappedFile() {
  if (mapped_ != nullptr) {
    munmap(mapped_, size_);
  }
}

void MappedFile::Release(size_t bytes) {
  if (bytes < released_) {
    released_ = 0;  // it is gone through once more
  }
  if (mapped_ == nullptr || bytes < released_ + kReleaseStep) {
    return;
  }
  const size_t whole = bytes / kReleaseStep * kReleaseStep;
  madvise(mapped_ + released_, whole - released_, MADV_DONTNEED);
  released_ = whole;
}

}  // namespace kvbench
