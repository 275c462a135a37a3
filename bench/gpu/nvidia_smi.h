#pragma once

#include <optional>
#include <string>

#include "bench/gpu/report.h"

namespace kvbench::gpu {

/// Clocks from a line like "1980, 3201"; nothing where it is none.
std::optional<GpuClocks> ParseClocks(const std::string& line);

/// The clocks of the first GPU now, as nvidia-smi tells them; nothing where it does not.
std::optional<GpuClocks> ClocksNow();

}  // namespace kvbench::gpu
