#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/executors/cpu_caches.h"
#include "bench/executors/cpu_roofs.h"

namespace kvbench {

/// What this machine is like at the moment, as far as it bears on measurements. What Linux does not
/// say is empty.
struct MachineState {
  std::optional<double> load_average_1min;
  std::optional<double> load_average_5min;
  std::optional<int64_t> available_memory_bytes;
  std::optional<std::string> transparent_huge_pages;  ///< "always", "madvise" or "never"
  std::optional<double> huge_page_share;          ///< of a pool that was tried out; empty: none was
  std::optional<std::string> frequency_governor;  ///< of the first core: "performance"
  std::vector<CpuCache> caches;
};

/// Reads /proc and /sys below `root`.
MachineState ReadMachineState(const std::filesystem::path& root = "/");

/// Tries out how much of a pool's memory the system puts on huge pages: allocates and touches one
/// of 32 MiB, which asks for them as all pools do, and looks at the AnonHugePages of its mapping in
/// `smaps`. Empty where that cannot be read. Throws std::bad_alloc.
std::optional<double> PoolHugePageShare(const std::filesystem::path& smaps = "/proc/self/smaps");

/// A sentence for each reason not to trust what is measured here: a load average above half the
/// cores, a read roof whose repetitions spread over more than 10 %, threads that wait for a core,
/// no transparent huge pages, or none given although they are on.
/// @param measured null when nothing was
std::vector<std::string> MeasurementDoubts(const MachineState& state, int64_t cores,
                                           const CpuRoofs* measured);

}  // namespace kvbench
