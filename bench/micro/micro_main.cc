#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/machine/environment.h"
#include "bench/micro/counters.h"
#include "bench/micro/workbench.h"

namespace {

/// Repetitions, taken in random order of all cases, unless a flag or Google Benchmark's environment
/// variable says otherwise. Nine are what a rank test needs to tell two runs apart.
std::vector<std::string> WithDefaults(int argc, char** argv) {
  constexpr std::pair<const char*, const char*> kDefaults[] = {
      {"benchmark_enable_random_interleaving", "true"},
      {"benchmark_repetitions", "9"},
      {"benchmark_min_time", "0.05"},
      {"benchmark_display_aggregates_only", "true"},
  };
  std::vector<std::string> arguments(argv, argv + argc);
  for (const auto& [name, value] : kDefaults) {
    bool given = false;
    for (const std::string_view argument : std::vector<std::string_view>(argv + 1, argv + argc)) {
      given = given || argument.starts_with(fmt::format("--{}", name));
    }
    std::string variable(name);
    for (char& c : variable) {
      c = c == '_' ? c : static_cast<char>(c - 'a' + 'A');
    }
    if (!given && std::getenv(variable.c_str()) == nullptr) {
      arguments.insert(arguments.begin() + 1, fmt::format("--{}={}", name, value));
    }
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments = WithDefaults(argc, argv);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  auto count = static_cast<int>(pointers.size());
  kvbench::micro::Workbench bench;
  kvbench::micro::RegisterRoofs(bench);
  kvbench::micro::RegisterAttention(bench);
  kvbench::micro::RegisterKv(bench);
  kvbench::micro::RegisterDense(bench);
#ifdef KVBENCH_HAS_ONEDNN
  kvbench::micro::RegisterOneDnn(bench);
#endif
  kvbench::micro::RegisterDevicePlan();
  kvbench::micro::RegisterBookkeeping();
  kvbench::micro::RegisterEngine();

  const kvbench::KvbenchInfo program = kvbench::DescribeProgram();
  const kvbench::Environment machine = kvbench::DescribeEnvironment();
  benchmark::AddCustomContext("kvbench_version", program.version);
  benchmark::AddCustomContext("kvbench_commit", program.commit.value_or("none"));
  benchmark::AddCustomContext("kvbench_build_type", program.build_type);
  benchmark::AddCustomContext("cpu_model", machine.cpu_model.value_or("unknown"));
  benchmark::AddCustomContext("cpu_isa", machine.cpu_isa.value_or("unknown"));
  benchmark::AddCustomContext("last_level_cache_bytes",
                              std::to_string(bench.last_level_cache_bytes()));
  benchmark::AddCustomContext("kv_working_set_bytes", std::to_string(bench.working_set_bytes()));

  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
