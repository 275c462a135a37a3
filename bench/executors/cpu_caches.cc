#include "bench/executors/cpu_caches.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include "kernels/cpu/buffer.h"

namespace kvbench {

namespace {

namespace fs = std::filesystem;

std::string FirstWord(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// "cpu12" is the folder of a core, "cpufreq" is not.
bool IsNumbered(const std::string& name, const std::string& stem) {
  return name.size() > stem.size() && name.starts_with(stem) &&
         name.find_first_not_of("0123456789", stem.size()) == std::string::npos;
}

/// "32768K" in bytes; 0 for anything else.
int64_t SizeOf(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > (int64_t{1} << 40)) {
    return 0;
  }
  const std::string unit(end, text.data() + text.size());
  return unit == "K" ? number << 10 : unit == "M" ? number << 20 : unit.empty() ? number : 0;
}

template <typename Visit>
void ForEachFolder(const fs::path& parent, const std::string& stem, const Visit& visit) {
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    if (IsNumbered(at->path().filename().string(), stem)) {
      visit(at->path());
    }
  }
}

}  // namespace

std::vector<CpuCache> CpuCaches(const fs::path& cpu_folder) {
  std::map<std::pair<int, std::string>, CpuCache> found;
  std::set<std::tuple<int, std::string, std::string>> instances;
  ForEachFolder(cpu_folder, "cpu", [&](const fs::path& core) {
    ForEachFolder(core / "cache", "index", [&](const fs::path& folder) {
      const auto level = static_cast<int>(SizeOf(FirstWord(folder / "level")));
      const std::string type = FirstWord(folder / "type");
      const int64_t bytes = SizeOf(FirstWord(folder / "size"));
      if (level < 1 || bytes < 1) {
        return;
      }
      CpuCache& cache = found[{level, type}];
      cache.level = level;
      cache.type = type;
      cache.bytes = std::max(cache.bytes, bytes);
      ++cache.cores;
      // Cores that share a cache list the same cores; one that does not say has its own.
      std::string sharers = FirstWord(folder / "shared_cpu_list");
      if (sharers.empty()) {
        sharers = core.filename().string();
      }
      if (instances.emplace(level, type, sharers).second) {
        ++cache.instances;
      }
    });
  });
  std::vector<CpuCache> caches;
  caches.reserve(found.size());
  for (auto& [key, cache] : found) {
    caches.push_back(std::move(cache));
  }
  return caches;
}

int64_t LastLevelCacheBytes(std::span<const CpuCache> caches, int threads) {
  int64_t last_level = 0;
  int level = 0;
  for (const CpuCache& cache : caches) {
    if (cache.type != "Instruction" && cache.level >= level) {
      level = cache.level;
      last_level = cache.bytes * std::min(cache.instances, threads);
    }
  }
  return last_level;
}

int64_t MemoryWorkingSet(std::span<const CpuCache> caches, int threads) {
  constexpr int64_t kLeast = int64_t{128} << 20;
  constexpr int64_t kMost = int64_t{1} << 30;
  constexpr auto kPage = static_cast<int64_t>(Buffer::kHugePage);
  const int64_t bytes = 4 * LastLevelCacheBytes(caches, threads);
  return std::clamp((bytes + kPage - 1) / kPage * kPage, kLeast, kMost);
}

}  // namespace kvbench
