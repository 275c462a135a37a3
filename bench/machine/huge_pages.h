#pragma once

#include <filesystem>
#include <optional>

namespace kvbench {

/// Tries out how much of a pool's memory the system puts on huge pages: allocates and touches one
/// of 32 MiB, which asks for them as all pools do, and looks at the AnonHugePages of its mapping in
/// `smaps`. Empty where that cannot be read. Throws std::bad_alloc.
std::optional<double> PoolHugePageShare(const std::filesystem::path& smaps = "/proc/self/smaps");

}  // namespace kvbench
