#include "bench/machine/huge_pages.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "kernels/cpu/buffer.h"

namespace kvbench {

std::optional<double> PoolHugePageShare(const std::filesystem::path& smaps) {
  constexpr size_t kBytes = 16 * Buffer::kHugePage;
  Buffer pool(kBytes);
  pool.Touch();
  const auto begin = reinterpret_cast<uintptr_t>(pool.as<char>());
  std::ifstream file(smaps);
  bool inside = false;  // the lines are those of a mapping that holds some of the pool
  std::optional<double> kib;
  for (std::string line; std::getline(file, line);) {
    uintptr_t first = 0;
    uintptr_t last = 0;
    char dash = 0;
    std::istringstream range(line);
    if (line.find(':') > line.find(' ') && range >> std::hex >> first >> dash >> last &&
        dash == '-') {
      // The kernel may have merged it with a neighbour: what the neighbour has counts as well, and
      // no more than all of the pool can be.
      inside = first < begin + kBytes && begin < last;
      continue;
    }
    std::istringstream words(line);
    std::string key;
    double value = 0;
    if (inside && words >> key >> value && key == "AnonHugePages:") {
      kib = kib.value_or(0) + value;
    }
  }
  if (!kib) {
    return std::nullopt;
  }
  return std::min(1.0, *kib * 1024 / static_cast<double>(kBytes));
}

}  // namespace kvbench
