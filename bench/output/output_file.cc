#include "bench/output/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <streambuf>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/quoting.h"

namespace kvbench {
namespace {

constexpr const char* kStandardOutput = "-";

[[noreturn]] void FailToWrite(const std::string& path, int error) {
  throw Error(fmt::format("cannot write {}: {}", ShownPath(path), std::strerror(error)));
}

/// Buffers what a stream writes and hands it to a file descriptor. Remembers the first error: the
/// streams of the standard library tell that something failed, but not why.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) {
    setp(buffer_, buffer_ + sizeof(buffer_));
  }

  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    if (!Flush()) {
      return traits_type::eof();
    }
    if (!traits_type::eq_int_type(c, traits_type::eof())) {
      sputc(traits_type::to_char_type(c));
    }
    return traits_type::not_eof(c);
  }

  int sync() override { return Flush() ? 0 : -1; }

 private:
  bool Flush() {
    const char* at = pbase();
    while (error_ == 0 && at < pptr()) {
      const ssize_t written = write(descriptor_, at, static_cast<size_t>(pptr() - at));
      if (written >= 0) {
        at += written;
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
    setp(buffer_, buffer_ + sizeof(buffer_));
    return error_ == 0;
  }

  int descriptor_;
  int error_ = 0;
  char buffer_[65536];
};

/// Closes a descriptor, and removes the file at a path unless told that it is to stay.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    Close();
    if (!remove_.empty()) {
      std::remove(remove_.c_str());
    }
  }

  int get() const { return descriptor_; }
  void RemoveOnFailure(std::string path) { remove_ = std::move(path); }
  void Keep() { remove_.clear(); }

  /// 0, or the error.
  int Close() {
    const int result = descriptor_ < 0 ? 0 : close(descriptor_);
    descriptor_ = -1;
    return result == 0 ? 0 : errno;
  }

 private:
  int descriptor_;
  std::string remove_;
};

/// Whether the path is a device, a pipe or a socket: nothing that a rename may replace.
bool IsSpecial(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/// Follows symbolic links, so that a rename replaces the file and not the link to it.
std::string Target(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) {
    return path;
  }
  std::string target = resolved;
  std::free(resolved);
  return target;
}

/// A new file beside the target, with the permissions that a newly created file has.
std::pair<int, std::string> OpenTemporary(const std::string& target) {
  for (int attempt = 0;; ++attempt) {
    const std::string name = fmt::format("{}.{}.{}.tmp", target, getpid(), attempt);
    const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) {
      return {descriptor, name};
    }
  }
}

/// What keeps a file from being put at the path, or 0. Opens nothing and creates nothing.
int WhyNotWritable(const std::string& target) {
  if (target.empty()) {
    return ENOENT;
  }
  struct stat info {};
  if (stat(target.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) {
      return EISDIR;
    }
    return access(target.c_str(), W_OK) == 0 ? 0 : errno;
  }
  return errno == ENOENT ? 0 : errno;
}

void WriteAll(const std::string& path, Descriptor& file,
              const std::function<void(std::ostream&)>& write) {
  DescriptorBuffer buffer(file.get());
  std::ostream stream(&buffer);
  write(stream);
  stream.flush();
  if (buffer.error() != 0 || !stream) {
    FailToWrite(path, buffer.error() != 0 ? buffer.error() : EIO);
  }
}

}  // namespace

void WriteFileAtomically(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (IsSpecial(path)) {
    Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) {
      FailToWrite(path, errno);
    }
    WriteAll(path, file, write);
    if (const int error = file.Close(); error != 0) {
      FailToWrite(path, error);
    }
    return;
  }
  const std::string target = Target(path);
  if (const int error = WhyNotWritable(target); error != 0) {
    FailToWrite(path, error);
  }
  auto [descriptor, temporary] = OpenTemporary(target);
  if (descriptor < 0) {
    FailToWrite(path, errno);
  }
  Descriptor file(descriptor);
  file.RemoveOnFailure(temporary);
  WriteAll(path, file, write);
  // Some file systems tell only now that there was no room.
  if (fsync(file.get()) != 0) {
    FailToWrite(path, errno);
  }
  if (const int error = file.Close(); error != 0) {
    FailToWrite(path, error);
  }
  if (std::rename(temporary.c_str(), target.c_str()) != 0) {
    FailToWrite(path, errno);
  }
  file.Keep();
}

void WriteStandardOutput(const std::function<void(std::ostream&)>& write) {
  write(std::cout);
  std::cout.flush();
  if (!std::cout) {
    throw Error("cannot write to the standard output; is the disk full or the pipe closed?");
  }
}

void WriteOutput(const std::string& out, const std::function<void(std::ostream&)>& write) {
  if (out == kStandardOutput) {
    WriteStandardOutput(write);
  } else {
    WriteFileAtomically(out, write);
  }
}

void CheckOutput(const std::string& out) {
  if (out != kStandardOutput) {
    CheckWritable(out);
  }
}

void CheckWritable(const std::string& path) {
  if (IsSpecial(path)) {
    // Opening a pipe would wait for its reader.
    if (access(path.c_str(), W_OK) != 0) {
      FailToWrite(path, errno);
    }
    return;
  }
  const std::string target = Target(path);
  if (const int error = WhyNotWritable(target); error != 0) {
    FailToWrite(path, error);
  }
  auto [descriptor, temporary] = OpenTemporary(target);
  if (descriptor < 0) {
    FailToWrite(path, errno);
  }
  Descriptor(descriptor).RemoveOnFailure(temporary);
}

}  // namespace kvbench
