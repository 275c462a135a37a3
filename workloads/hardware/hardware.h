#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvbench {

/// A machine that a modelled run or a memory plan is for: peaks of its data sheet and what a
/// program can allocate. What is reached of the peaks is a matter of the calibration, not of the
/// hardware.
struct Hardware {
  std::string name;          ///< "a100-sxm4-40gb"
  int64_t memory_bytes = 0;  ///< what a program can allocate at most, of one device
  double memory_bandwidth_bytes_per_s = 0;
  double dense_flops_per_s = 0;  ///< fp16 or bf16 with fp32 accumulation, no sparsity
  int64_t last_level_cache_bytes = 0;
  /// To the other devices of a tensor-parallel group, one direction: the GPU link, or PCIe where
  /// there is none.
  double link_bytes_per_s = 0;
  std::string source;

  bool operator==(const Hardware&) const = default;
};

/// The hardware built into the program (workloads/data/hardware.json).
const std::vector<Hardware>& BuiltInHardware();

/// Built-in hardware by name, or a JSON file of one such object at that path (anything with a '/'
/// or ending in ".json"). Throws Error: an unknown name lists the close ones.
Hardware LoadHardware(const std::string& name_or_path);

}  // namespace kvbench
