#include "kernels/cpu/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace kvbench {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kSmallPage = 4096;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// mmap aligns to 4 KiB only: map a huge page more and give back what lies outside.
void* MapAligned(size_t bytes) {
  const size_t padded = bytes + Buffer::kHugePage;
  if (padded < bytes) throw std::bad_alloc();
  void* const mapping =
      mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(mapping);
  const size_t address = reinterpret_cast<uintptr_t>(mapping);
  const size_t head = RoundUp(address, Buffer::kHugePage) - address;
  if (head > 0) munmap(begin, head);
  if (const size_t tail = padded - head - bytes; tail > 0) munmap(begin + head + bytes, tail);
  madvise(begin + head, bytes, MADV_HUGEPAGE);
  return begin + head;
}

}  // namespace

Buffer::Buffer(size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  if (bytes >= kHugePage) {
    mapped_ = RoundUp(bytes, kHugePage);
    data_ = MapAligned(mapped_);
    return;
  }
  const size_t rounded = RoundUp(bytes, kCacheLine);
  data_ = std::aligned_alloc(kCacheLine, rounded);
  if (data_ == nullptr) throw std::bad_alloc();
  std::memset(data_, 0, rounded);
}

Buffer::~Buffer() {
  if (mapped_ > 0) {
    munmap(data_, mapped_);
  } else {
    std::free(data_);
  }
}

void Buffer::Touch() {
  volatile char* const bytes = static_cast<volatile char*>(data_);
  for (size_t i = 0; i < size_; i += kSmallPage) bytes[i] = bytes[i];
}

}  // namespace kvbench
