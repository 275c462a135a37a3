#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/device.h"
#include "kernels/simulator/global_memory.h"
#include "kernels/simulator/simulator.h"

namespace kvbench {

/// A device that is the simulator: what a GPU would compute, checked, and not its speed. Events are
/// counted, and a second passes with each.
class SimulatedDevice final : public Device {
 public:
  static constexpr int64_t kDefaultMemory = int64_t{1} << 34;

  explicit SimulatedDevice(SimulatorOptions options = {}, int64_t memory_bytes = kDefaultMemory,
                           int32_t multiprocessors = 4);

  SimulatorOptions& options() { return options_; }
  int64_t launches() const { return launches_; }

  const DeviceProperties& properties() const override { return properties_; }
  size_t free_bytes() const override;
  void* Allocate(size_t bytes, const char* name) override;
  void Free(void* memory) override;
  void CopyToDevice(void* to, const void* from, size_t bytes) override;
  void CopyToHost(void* to, const void* from, size_t bytes) override;
  void Fill(void* to, int byte, size_t bytes) override;
  const Kernel& kernel(const std::string& name) const override;
  int32_t ResidentCtas(const Kernel& kernel, int32_t shared_bytes) const override;
  void Launch(const Kernel& kernel, const LaunchShape& shape, const void* params) override;
  void Multiply(const DeviceGemm& gemm) override;
  int64_t Record() override { return ++events_; }
  double SecondsBetween(int64_t first, int64_t second) override {
    return static_cast<double>(second - first);
  }
  void Synchronize() override {}
  void BeginProfiling() override {}
  void EndProfiling() override {}

 private:
  void Check(const void* memory, size_t bytes) const;

  SimulatorOptions options_;
  DeviceProperties properties_;
  GlobalMemory memory_;
  Simulator simulator_;
  KernelTable kernels_;
  int64_t used_ = 0;
  int64_t launches_ = 0;
  int64_t events_ = 0;
  std::vector<std::pair<void*, size_t>> sizes_;
};

}  // namespace kvbench
