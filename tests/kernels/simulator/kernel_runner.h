#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/address.h"
#include "kernels/cuda/all_kernels.h"
#include "kernels/float16.h"
#include "kernels/simulator/simulator.h"
#include "tests/kernels/simulator/schedules.h"

namespace kvbench {

/// Memory of a simulated device and the kernels that run on it.
class KernelRunner {
 public:
  template <typename T>
  Global<T> Allocate(int64_t count, const std::string& name) {
    return {static_cast<T*>(memory_.Allocate(static_cast<size_t>(count) * sizeof(T), name))};
  }
  template <typename T>
  Global<T> Upload(const std::vector<T>& values, const std::string& name) {
    const Global<T> to = Allocate<T>(static_cast<int64_t>(values.size()), name);
    Write(to, values);
    return to;
  }
  template <typename T>
  static void Write(Global<T> to, const std::vector<T>& values) {
    std::copy(values.begin(), values.end(), to.address);
  }
  template <typename T>
  static std::vector<T> Read(Global<T> from, int64_t count) {
    return {from.address, from.address + count};
  }
  template <typename T>
  void Free(Global<T> memory) {
    memory_.Free(memory.address);
  }

  template <typename Params>
  void Launch(const std::string& name, const Params& params, std::array<int, 3> grid,
              const SimulatorOptions& options, size_t shared_bytes = 0) {
    const Kernel* const kernel = kernels_.Find(name);
    ASSERT_NE(kernel, nullptr) << name;
    ASSERT_EQ(kernel->parameter_bytes, sizeof params) << name;
    simulator_.Launch(reinterpret_cast<void (*)(const void*)>(const_cast<void*>(kernel->entry)),
                      &params, grid, kernel->threads, shared_bytes, options);
  }

  /// Calls body(options) for every schedule. Accesses are the same under all: those of the first
  /// are counted and returned.
  template <typename Body>
  static AccessLog ForEachSchedule(const Body& body) {
    AccessLog log;
    AccessLog* counted = &log;
    for (SimulatorOptions options : Schedules()) {
      SCOPED_TRACE("schedule " + std::to_string(static_cast<int>(options.schedule)) + " seed " +
                   std::to_string(options.seed));
      options.log = std::exchange(counted, nullptr);
      body(options);
    }
    return log;
  }

 private:
  GlobalMemory memory_;
  Simulator simulator_{memory_};
  KernelTable kernels_ = SimulatorKernels();
};

inline std::vector<float> NormalFloats(int64_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
  return values;
}

/// "fp16" or "bf16", as kernels name them, and their numbers.
struct HalfType {
  const char* name;
  uint16_t (*from_float)(float);
  float (*to_float)(uint16_t);
  double rounding;  ///< half a unit in the last place of 1
};
inline constexpr HalfType kHalfTypes[] = {
    {"fp16", FloatToFp16, Fp16ToFloat, 0x1p-11},
    {"bf16", FloatToBf16, Bf16ToFloat, 0x1p-8},
};

/// Bytes that all accesses of a kind moved.
inline int64_t BytesOf(const AccessLog& log, AccessLog::Kind kind) {
  int64_t bytes = 0;
  for (const AccessLog::Place& place : log.places()) {
    bytes += place.kind == kind ? place.bytes : 0;
  }
  return bytes;
}

/// No access of global memory touches more sectors than its bytes need.
inline void ExpectWholeSectors(const AccessLog& log) {
  for (const AccessLog::Place& place : log.places()) {
    if (place.kind == AccessLog::Kind::kGlobalLoad || place.kind == AccessLog::Kind::kGlobalStore) {
      EXPECT_EQ(place.units, place.ideal_units) << place.site;
    }
  }
}

}  // namespace kvbench
