#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kvbench {

/// Owned memory for pools, weights and scratch: 64-byte aligned, or from 2 MiB on its own mapping
/// aligned to 2 MiB that asks for huge pages (advice: the system may refuse). Contents are zero.
/// Throws std::bad_alloc when there is none.
class Buffer {
 public:
  static constexpr size_t kHugePage = size_t{2} << 20;

  Buffer() = default;
  explicit Buffer(size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept { Swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  size_t size() const { return size_; }
  template <typename T>
  T* as() {
    return static_cast<T*>(data_);
  }
  template <typename T>
  const T* as() const {
    return static_cast<const T*>(data_);
  }

  /// Writes to every page, so that the memory is there before a clock starts. Keeps the contents.
  void Touch();

 private:
  void Swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
  }

  void* data_ = nullptr;
  size_t size_ = 0;
  size_t mapped_ = 0;  // bytes of the mapping; 0: from the heap
};

}  // namespace kvbench
