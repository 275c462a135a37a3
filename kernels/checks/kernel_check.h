#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/checks/device_attention_cases.h"
#include "kernels/cuda/device.h"

namespace kvbench {

/// Something that a kernel must get right, on any device.
struct KernelCheck {
  std::string what;      ///< the kernel and the case, for people
  double tolerance = 0;  ///< the largest error that is right
  /// Runs it and says by how much it is wrong; NaN is wrong, too. What the device throws comes
  /// through.
  std::function<double(Device&)> error;
};

struct AttentionCheckOptions {
  bool combinations = true;  ///< besides EveryKernelCases those of DecodeCases and PromptCases
  Coverage coverage = Coverage::kPairwise;
  int samples = 48;  ///< rows of an output that are compared at most
};

/// Attention of decodes and prompts, vllm_v1 included, as a share of the largest element of a row.
std::vector<KernelCheck> AttentionChecks(const AttentionCheckOptions& options);

/// KV write, block copies and the read roof: elements that differ.
std::vector<KernelCheck> MemoryChecks();

/// What surrounds attention: absolute differences in units of what rounding allows.
std::vector<KernelCheck> ElementwiseChecks();

// What the checks are written with.

template <typename T>
DeviceArray<T> Uploaded(Device& device, const std::vector<T>& values, const char* name) {
  DeviceArray<T> array(device, static_cast<int64_t>(values.size()), name);
  array.Upload(values);
  return array;
}

template <typename T>
std::vector<T> Downloaded(const DeviceArray<T>& array) {
  std::vector<T> values(static_cast<size_t>(array.count()));
  array.Download(values);
  return values;
}

/// Elements that differ.
template <typename T>
double Differing(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double count = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    count += a[i] == b[i] ? 0 : 1;
  }
  return count;
}

inline std::vector<float> NormalNumbers(int64_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
  return values;
}

}  // namespace kvbench
