#include "bench/machine/machine_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "kernels/cpu/buffer.h"

namespace kvbench {

namespace {

/// The value of /proc/meminfo's line `key`, in bytes.
std::optional<int64_t> MemoryLine(const std::filesystem::path& path, const std::string& key) {
  std::ifstream file(path);
  std::string name;
  int64_t kib = 0;
  std::string unit;
  while (file >> name >> kib) {
    std::getline(file, unit);
    if (name == key) {
      return kib * 1024;
    }
  }
  return std::nullopt;
}

/// The choice in brackets: "always [madvise] never" is "madvise".
std::optional<std::string> Chosen(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const size_t begin = line.find('[');
  const size_t end = line.find(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return std::nullopt;
  }
  return line.substr(begin + 1, end - begin - 1);
}

}  // namespace

MachineState ReadMachineState(const std::filesystem::path& root) {
  MachineState state;
  std::ifstream load(root / "proc/loadavg");
  double one = 0;
  double five = 0;
  if (load >> one >> five) {
    state.load_average_1min = one;
    state.load_average_5min = five;
  }
  state.available_memory_bytes = MemoryLine(root / "proc/meminfo", "MemAvailable:");
  state.transparent_huge_pages = Chosen(root / "sys/kernel/mm/transparent_hugepage/enabled");
  std::ifstream governor(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string name;
  if (governor >> name) {
    state.frequency_governor = name;
  }
  state.caches = CpuCaches(root / "sys/devices/system/cpu");
  return state;
}

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

std::vector<std::string> MeasurementDoubts(const MachineState& state, int64_t cores,
                                           const CpuRoofs* measured) {
  std::vector<std::string> doubts;
  if (state.load_average_1min && *state.load_average_1min > 0.5 * static_cast<double>(cores)) {
    doubts.push_back(
        fmt::format("The load average was {:.2f} on {} cores: other programs run, and what is "
                    "measured is what they leave.",
                    *state.load_average_1min, cores));
  }
  if (measured != nullptr && measured->read_spread > 0.1) {
    doubts.push_back(
        fmt::format("The repetitions of the read roof differ by {:.0f} %: something disturbs the "
                    "machine; measure again when it is quiet.",
                    100 * measured->read_spread));
  }
  // Threads that have a core each answer while the caller spins: about a microsecond. The load
  // average knows nothing yet of a program that has just started; this does.
  constexpr double kLongDispatch = 20e-6;
  if (measured != nullptr && measured->dispatch_s > kLongDispatch) {
    doubts.push_back(fmt::format(
        "Calling all {} threads takes {:.0f} us, where threads with a core each take about one: "
        "other programs hold cores that the threads wait for.",
        measured->threads, 1e6 * measured->dispatch_s));
  }
  if (!state.transparent_huge_pages || *state.transparent_huge_pages == "never") {
    doubts.emplace_back(
        "There are no transparent huge pages (/sys/kernel/mm/transparent_hugepage/enabled): paged "
        "and contiguous caches pay for address translation that other machines spare.");
  } else if (state.huge_page_share && *state.huge_page_share < 0.9) {
    doubts.push_back(fmt::format(
        "A pool that asked for huge pages got them for {:.0f} % of its memory: the system has too "
        "few left, or refuses; caches pay for address translation that varies from run to run.",
        100 * *state.huge_page_share));
  }
  return doubts;
}

}  // namespace kvbench
