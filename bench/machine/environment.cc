#include "bench/machine/environment.h"

#include <hwy/targets.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "bench/machine/gpu.h"
#include "bench/machine/version.h"

namespace kvbench {

namespace {

/// The value of the first line `key<separator>value` of a file, without quotes and blanks around
/// it.
std::optional<std::string> Lookup(const char* path, std::string_view key, char separator) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const size_t at = line.find(separator);
    if (!line.starts_with(key) || at == std::string::npos) {
      continue;
    }
    const size_t begin = line.find_first_not_of(" \t\"", at + 1);
    const size_t end = line.find_last_not_of(" \t\"");
    if (begin == std::string::npos) {
      return std::nullopt;
    }
    return line.substr(begin, end - begin + 1);
  }
  return std::nullopt;
}

std::optional<std::string> OperatingSystem() {
  std::optional<std::string> os = Lookup("/etc/os-release", "PRETTY_NAME", '=');
  utsname names{};
  if (uname(&names) == 0) {
    os = os.value_or(names.sysname) + ", kernel " + names.release;
  }
  return os;
}

/// The widest instruction set that Highway may choose here.
std::string InstructionSet() {
  const int64_t targets = hwy::SupportedTargets();
  return hwy::TargetName(targets & -targets);
}

std::optional<std::string> NonEmpty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

}  // namespace

Environment DescribeEnvironment() {
  Environment environment;
  environment.os = OperatingSystem();
  environment.cpu_model = Lookup("/proc/cpuinfo", "model name", ':');
  environment.cpu_isa = InstructionSet();
  environment.cores = static_cast<int64_t>(std::thread::hardware_concurrency());
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) {
    environment.memory_bytes = int64_t{pages} * page_bytes;
  }
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  if (std::string id; boot >> id) {
    environment.boot_id = id;
  }
  return environment;
}

KvbenchInfo DescribeProgram() {
  KvbenchInfo info;
  info.version = Version();
  info.commit = NonEmpty(Commit());
  info.build_type = BuildType();
  info.compiler = Compiler();
  info.cuda_version = CudaVersion();
  return info;
}

std::string Timestamp(int64_t seconds) {
  const auto now = static_cast<std::time_t>(seconds);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

std::string TimestampNow() { return Timestamp(std::time(nullptr)); }

}  // namespace kvbench
