#include "bench/gpu/nvidia_smi.h"

#include <array>
#include <cstdio>
#include <sstream>

namespace kvbench::gpu {

std::optional<GpuClocks> ParseClocks(const std::string& line) {
  std::istringstream in(line);
  GpuClocks clocks;
  char comma = 0;
  if (in >> clocks.sm_mhz >> comma >> clocks.memory_mhz && comma == ',') {
    return clocks;
  }
  return std::nullopt;
}

std::optional<GpuClocks> ClocksNow() {
  FILE* const pipe = popen(
      "nvidia-smi -i 0 --query-gpu=clocks.sm,clocks.mem --format=csv,noheader,nounits 2>/dev/null",
      "r");
  if (pipe == nullptr) {
    return std::nullopt;
  }
  std::array<char, 128> line{};
  const bool told = std::fgets(line.data(), line.size(), pipe) != nullptr;
  pclose(pipe);
  return told ? ParseClocks(line.data()) : std::nullopt;
}

}  // namespace kvbench::gpu
