#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <ostream>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/statistics.h"
#include "bench/commands/command_line.h"
#include "bench/commands/commands.h"
#include "bench/executors/cpu_executor.h"
#include "bench/executors/cpu_roofs.h"
#include "bench/machine/environment.h"
#include "bench/machine/info_cache.h"
#include "bench/machine/info_report.h"
#include "bench/machine/machine_state.h"
#include "bench/output/output_file.h"
#include "kernels/cpu/read_roof.h"
#include "workloads/models/model_shape.h"

namespace kvbench {
namespace {

constexpr const char* kInfoExamples =
    R"(Examples:
  kvbench info
  kvbench info --measure
  kvbench info --model twin-gqa --threads 1
  kvbench info --no-measure --format json)";

struct InfoOptions {
  std::string model = "twin-mha";
  std::string kv_cache_dtype = "float16";
  int64_t threads = 0;
  std::string format = "text";
  bool no_measure = false;
  bool measure = false;
  bool no_cache = false;
};

int Threads(const InfoOptions& options) {
  const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  const int64_t threads = options.threads == 0 ? cores : options.threads;
  if (threads < 1 || threads > 4 * cores) {
    throw Error(fmt::format("--threads {}: this machine has {} cores; 0 takes all of them",
                            options.threads, cores));
  }
  return static_cast<int>(threads);
}

/// Medians of rounds in which every number of threads has its turn: all up to 8, then doubling.
std::vector<ReadBandwidth> MeasureReads(int most, int64_t bytes) {
  constexpr int kRounds = 5;
  std::vector<ReadBandwidth> reads;
  for (int threads = 1; threads < most; threads += threads < 8 ? 1 : threads) {
    reads.push_back({.threads = threads});
  }
  reads.push_back({.threads = most});
  ReadRoof roof(static_cast<size_t>(bytes));
  std::vector<std::vector<double>> samples(reads.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < reads.size(); ++i) {
      ThreadPool pool(static_cast<int>(reads[i].threads));
      pool.Run([](int) {});  // its threads have started
      samples[i].push_back(roof.Measure(pool));
    }
  }
  for (size_t i = 0; i < reads.size(); ++i) {
    reads[i].bytes_per_s = Median(std::move(samples[i])).value_or(0);
  }
  return reads;
}

/// Measures into report.measured, which says what.
void Measure(InfoReport& report) {
  MeasuredInfo& measured = *report.measured;
  fmt::print(stderr, "Measuring for about 5 s; --no-measure leaves it out.\n");
  const auto threads = static_cast<int>(measured.roofs.threads);
  measured.measured_at_s = report.now_s;
  measured.load_average_1min = report.state.load_average_1min;
  measured.read = MeasureReads(threads, MemoryWorkingSet(report.state.caches, threads));
  ThreadPool pool(threads);
  measured.roofs = MeasureCpuRoofs(measured.model, measured.kv_cache_dtype, pool);
}

/// The kept measurement where there is one, or a new one, which is kept.
void FindOrMeasure(const InfoOptions& options, InfoReport& report) {
  const InfoCache cache(options.no_cache ? "" : InfoCache::DefaultFile());
  if (!options.measure) {
    if (std::optional<MeasuredInfo> kept = cache.Find(report, *report.measured, report.now_s)) {
      report.measured = std::move(kept);
      return;
    }
  }
  Measure(report);
  try {
    cache.Keep(report);
  } catch (const Error& error) {
    fmt::print(stderr, "The measurement is not kept: {}\n", error.what());
  }
}

void MeasureGpu(GpuSurvey& survey) {
  if (survey.gpus.empty()) {
    return;
  }
  try {
    survey.read_roof_bytes_per_s = MeasureReadRoof(*OpenGpu());
  } catch (const Error& error) {
    fmt::print(stderr, "The GPU is not measured: {}\n", error.what());
  }
}

void Info(const InfoOptions& options) {
  const ModelShape model = LoadModel(options.model);
  const Dtype dtype = ParseDtype(options.kv_cache_dtype);
  const int threads = Threads(options);
  InfoReport report;
  report.program = DescribeProgram();
  report.environment = DescribeEnvironment();
  report.state = ReadMachineState();  // before the measurements are a load of their own
  report.state.huge_page_share = PoolHugePageShare();
  report.gpus = SurveyGpus();
  report.now_s = std::time(nullptr);
  MachineState judged = report.state;
  if (!options.no_measure) {
    MeasureGpu(report.gpus);
    CpuExecutor::CheckKernels(model, dtype);
    MeasuredInfo& measured = report.measured.emplace();
    measured.model = model;
    measured.kv_cache_dtype = dtype;
    measured.roofs.threads = threads;
    FindOrMeasure(options, report);
    judged.load_average_1min = report.measured->load_average_1min;
  }
  report.doubts = MeasurementDoubts(judged, report.environment.cores.value_or(1),
                                    report.measured ? &report.measured->roofs : nullptr);
  WriteStandardOutput([&](std::ostream& out) {
    out << (options.format == "json" ? InfoJson(report) : InfoText(report));
  });
}

}  // namespace

void AddInfoCommand(Command app, Invocation&) {
  const Command info = app.Subcommand(
      "info", "Show this machine and what its CPU reaches with the kernels of a run");
  const auto options = std::make_shared<InfoOptions>();
  info.Add("--model", options->model,
           "whose shapes are measured: a built-in model or a config.json")
      .ShowDefault();
  info.Add("--kv-cache-dtype", options->kv_cache_dtype, "float16, bfloat16 or float32")
      .ShowDefault();
  info.Add("--threads", options->threads, "how many (0: all cores)").ShowDefault();
  info.Add("--format", options->format, "text or json").ShowDefault().OneOf({"text", "json"});
  const CommandOption no_measure =
      info.AddFlag("--no-measure", options->no_measure, "only what needs no measuring");
  info.AddFlag("--measure", options->measure,
               "measure again, even if it was done within a day with the same program")
      .Excludes(no_measure);
  info.AddFlag("--no-cache", options->no_cache,
               "neither read nor keep measurements (in $XDG_CACHE_HOME or ~/.cache; a build of "
               "changed sources keeps none anyway)");
  info.Footer(kInfoExamples);
  info.Do([options] { Info(*options); });
}

}  // namespace kvbench
