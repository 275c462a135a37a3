#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/cuda/address.h"
#include "kernels/cuda/kernel_table.h"

namespace kvbench {

/// A device has not enough memory.
class DeviceMemoryError : public std::runtime_error {
 public:
  DeviceMemoryError(size_t asked, size_t free)
      : std::runtime_error("the device has not enough memory"), asked_(asked), free_(free) {}
  size_t asked() const { return asked_; }
  size_t free() const { return free_; }

 private:
  size_t asked_;
  size_t free_;
};

struct DeviceProperties {
  std::string name;
  int32_t multiprocessors = 0;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  int32_t compute_capability = 0;  ///< 90 for 9.0; 0 on the simulator
  std::string driver;              ///< "13.0": the newest CUDA that it runs; empty on the simulator
  int64_t allocation_unit = 1;     ///< bytes that an allocation is rounded up to at most
};

/// How many CTAs of how much shared memory.
struct LaunchShape {
  std::array<int32_t, 3> grid = {1, 1, 1};
  int32_t shared_bytes = 0;
};

/// out = in * transposed(weights): rows of floats from 16-bit rows.
struct DeviceGemm {
  bool bf16 = false;              ///< elements of in and weights: Bf16, or Fp16
  const void* in = nullptr;       ///< [rows, in_width]
  const void* weights = nullptr;  ///< [out_width, in_width]
  float* out = nullptr;           ///< [rows, out_width]
  int64_t rows = 0;
  int64_t in_width = 0;
  int64_t out_width = 0;
};

/// What an executor needs of a GPU; the simulator is one, too. All work is in one queue and in
/// order. Errors of the device are exceptions with its own words.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceProperties& properties() const = 0;
  virtual size_t free_bytes() const = 0;

  /// Throws DeviceMemoryError. `name` is for messages.
  virtual void* Allocate(size_t bytes, const char* name) = 0;
  virtual void Free(void* memory) = 0;
  /// Both return when the host's memory may be used again.
  virtual void CopyToDevice(void* to, const void* from, size_t bytes) = 0;
  virtual void CopyToHost(void* to, const void* from, size_t bytes) = 0;
  virtual void Fill(void* to, int byte, size_t bytes) = 0;

  /// Throws std::logic_error for a name that no kernel has.
  virtual const Kernel& kernel(const std::string& name) const = 0;
  /// CTAs of a kernel that fit a multiprocessor at once.
  virtual int32_t ResidentCtas(const Kernel& kernel, int32_t shared_bytes) const = 0;
  /// `params` are the kernel's Params; they are copied. A grid without CTAs is nothing to do.
  virtual void Launch(const Kernel& kernel, const LaunchShape& shape, const void* params) = 0;
  virtual void Multiply(const DeviceGemm& gemm) = 0;

  /// Events: a moment in the queue, and the seconds between two that have passed.
  virtual int64_t Record() = 0;
  virtual double SecondsBetween(int64_t first, int64_t second) = 0;
  virtual void Synchronize() = 0;
};

/// Memory of a device, freed with the object.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(Device& device, int64_t count, const char* name)
      : device_(&device),
        count_(count),
        data_(static_cast<T*>(device.Allocate(static_cast<size_t>(count) * sizeof(T), name))) {}
  DeviceArray(DeviceArray&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)),
        count_(std::exchange(other.count_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(count_, other.count_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~DeviceArray() {
    if (device_ != nullptr) {
      device_->Free(data_);
    }
  }

  int64_t count() const { return count_; }
  T* data() const { return data_; }
  Global<T> global() const { return {data_}; }

  /// Room for at least `count` elements; what was there is lost when it grows.
  void Reserve(Device& device, int64_t count, const char* name) {
    if (count > count_) {
      *this = DeviceArray();
      *this = DeviceArray(device, count + count / 2, name);
    }
  }
  void Upload(std::span<const T> values) {
    if (!values.empty()) {
      device_->CopyToDevice(data_, values.data(), values.size_bytes());
    }
  }
  void Download(std::span<T> values) const {
    if (!values.empty()) {
      device_->CopyToHost(values.data(), data_, values.size_bytes());
    }
  }

 private:
  Device* device_ = nullptr;
  int64_t count_ = 0;
  T* data_ = nullptr;
};

template <typename Params>
void Launch(Device& device, const Kernel& kernel, const LaunchShape& shape, const Params& params) {
  if (sizeof(Params) != kernel.parameter_bytes) {
    throw std::logic_error("kernel " + kernel.name + " has other parameters");
  }
  device.Launch(kernel, shape, &params);
}

}  // namespace kvbench
