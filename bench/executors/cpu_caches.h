#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace kvbench {

/// A level of the CPU's caches.
struct CpuCache {
  int level = 0;
  std::string type;   ///< "Data", "Instruction" or "Unified"
  int64_t bytes = 0;  ///< of one instance; the largest where they differ
  int instances = 0;  ///< that the machine's cores have together
  int cores = 0;      ///< that have such a cache, together
};

/// The caches of all cores by level, data before instructions, as Linux lists them under
/// `cpu_folder`. Empty where it does not say.
std::vector<CpuCache> CpuCaches(
    const std::filesystem::path& cpu_folder = "/sys/devices/system/cpu");

/// Bytes of the last-level caches that `threads` cores may have together; 0: unknown.
int64_t LastLevelCacheBytes(std::span<const CpuCache> caches, int threads);

/// Bytes so many that going through them again and again finds none of them in a cache: four times
/// the last-level caches that `threads` cores may have, from 128 MiB to 1 GiB, whole huge pages.
int64_t MemoryWorkingSet(std::span<const CpuCache> caches, int threads);

}  // namespace kvbench
