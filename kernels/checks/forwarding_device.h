#pragma once

#include <string>

#include "kernels/cuda/device.h"

namespace kvbench {

/// A device that hands everything on to another: to look at calls, or to change some.
class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(Device& to) : to_(to) {}

  const DeviceProperties& properties() const override { return to_.properties(); }
  size_t free_bytes() const override { return to_.free_bytes(); }
  void* Allocate(size_t bytes, const char* name) override { return to_.Allocate(bytes, name); }
  void Free(void* memory) override { to_.Free(memory); }
  void CopyToDevice(void* to, const void* from, size_t bytes) override {
    to_.CopyToDevice(to, from, bytes);
  }
  void CopyToHost(void* to, const void* from, size_t bytes) override {
    to_.CopyToHost(to, from, bytes);
  }
  void Fill(void* to, int byte, size_t bytes) override { to_.Fill(to, byte, bytes); }
  const Kernel& kernel(const std::string& name) const override { return to_.kernel(name); }
  int32_t ResidentCtas(const Kernel& kernel, int32_t shared_bytes) const override {
    return to_.ResidentCtas(kernel, shared_bytes);
  }
  void Launch(const Kernel& kernel, const LaunchShape& shape, const void* params) override {
    to_.Launch(kernel, shape, params);
  }
  void Multiply(const DeviceGemm& gemm) override { to_.Multiply(gemm); }
  int64_t Record() override { return to_.Record(); }
  double SecondsBetween(int64_t first, int64_t second) override {
    return to_.SecondsBetween(first, second);
  }
  void Synchronize() override { to_.Synchronize(); }
  void BeginProfiling() override { to_.BeginProfiling(); }
  void EndProfiling() override { to_.EndProfiling(); }

 private:
  Device& to_;
};

}  // namespace kvbench
