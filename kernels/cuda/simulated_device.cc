#include "kernels/cuda/simulated_device.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "kernels/cuda/all_kernels.h"
#include "kernels/float16.h"

namespace kvbench {

SimulatedDevice::SimulatedDevice(SimulatorOptions options, int64_t memory_bytes,
                                 int32_t multiprocessors)
    : options_(options), simulator_(memory_), kernels_(SimulatorKernels()) {
  properties_.name = "simulator";
  properties_.multiprocessors = multiprocessors;
  properties_.memory_bytes = memory_bytes;
}

size_t SimulatedDevice::free_bytes() const {
  return static_cast<size_t>(properties_.memory_bytes - used_);
}

void* SimulatedDevice::Allocate(size_t bytes, const char* name) {
  if (bytes > free_bytes()) {
    throw DeviceMemoryError(bytes, free_bytes());
  }
  void* const memory = memory_.Allocate(bytes, name);
  used_ += static_cast<int64_t>(bytes);
  sizes_.emplace_back(memory, bytes);
  return memory;
}

void SimulatedDevice::Free(void* memory) {
  const auto found = std::find_if(sizes_.begin(), sizes_.end(),
                                  [&](const auto& entry) { return entry.first == memory; });
  if (found == sizes_.end()) {
    return;
  }
  used_ -= static_cast<int64_t>(found->second);
  sizes_.erase(found);
  memory_.Free(memory);
}

void SimulatedDevice::Check(const void* memory, size_t bytes) const {
  if (bytes > 0 && !memory_.Contains(memory, bytes)) {
    throw std::logic_error("a copy of " + std::to_string(bytes) + " bytes at " +
                           memory_.Describe(memory));
  }
}

void SimulatedDevice::CopyToDevice(void* to, const void* from, size_t bytes) {
  Check(to, bytes);
  if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}

void SimulatedDevice::CopyToHost(void* to, const void* from, size_t bytes) {
  Check(from, bytes);
  if (bytes > 0) {
    std::memcpy(to, from, bytes);
  }
}

void SimulatedDevice::Fill(void* to, int byte, size_t bytes) {
  Check(to, bytes);
  std::memset(to, byte, bytes);
}

const Kernel& SimulatedDevice::kernel(const std::string& name) const {
  const Kernel* const kernel = kernels_.Find(name);
  if (kernel == nullptr) {
    throw std::logic_error("no kernel is called " + name);
  }
  return *kernel;
}

int32_t SimulatedDevice::ResidentCtas(const Kernel& /*kernel*/, int32_t /*shared_bytes*/) const {
  return 2;
}

void SimulatedDevice::Launch(const Kernel& kernel, const LaunchShape& shape, const void* params) {
  ++launches_;
  simulator_.Launch(reinterpret_cast<void (*)(const void*)>(const_cast<void*>(kernel.entry)),
                    params, shape.grid, kernel.threads, static_cast<size_t>(shape.shared_bytes),
                    options_);
}

void SimulatedDevice::Multiply(const DeviceGemm& gemm) {
  const auto bytes = [](int64_t rows, int64_t width, size_t each) {
    return static_cast<size_t>(rows * width) * each;
  };
  Check(gemm.in, bytes(gemm.rows, gemm.in_width, 2));
  Check(gemm.weights, bytes(gemm.out_width, gemm.in_width, 2));
  Check(gemm.out, bytes(gemm.rows, gemm.out_width, 4));
  const auto number = [&](const void* array, int64_t index) {
    const uint16_t bits = static_cast<const uint16_t*>(array)[index];
    return gemm.bf16 ? Bf16ToFloat(bits) : Fp16ToFloat(bits);
  };
  for (int64_t row = 0; row < gemm.rows; ++row) {
    for (int64_t column = 0; column < gemm.out_width; ++column) {
      float sum = 0;
      for (int64_t i = 0; i < gemm.in_width; ++i) {
        sum += number(gemm.in, row * gemm.in_width + i) *
               number(gemm.weights, column * gemm.in_width + i);
      }
      gemm.out[row * gemm.out_width + column] = sum;
    }
  }
}

}  // namespace kvbench
