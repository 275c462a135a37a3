#include "bench/commands/run.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <ostream>
#include <thread>

#include "bench/engine/engine.h"
#include "bench/environment.h"
#include "bench/executors/cpu_executor.h"
#include "bench/interrupt.h"
#include "bench/output_file.h"
#include "bench/progress.h"
#include "bench/record_builder.h"
#include "bench/run_plan.h"
#include "bench/run_spec.h"
#include "bench/units.h"
#include "results/json_writer.h"
#include "results/record.h"
#include "results/table.h"
#include "workloads/error.h"

namespace kvbench {

namespace {

constexpr const char* kExamples =
    R"(Every parameter takes a list (a,b,c) or a range (1..4+0.5, 1..256*2), and is then an axis.

Examples:
  kvbench run quick
  kvbench run quick --model twin-mha --design paged --block-size 4,16,64 --out blocks.json
  kvbench run --lengths sharegpt:scale=0.25 --requests 50 --design contiguous-max,paged \
      --kv-memory 32MiB --max-model-len 512
)";

constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells have it

struct RunOptions {
  std::string suite;
  std::map<std::string, std::string, std::less<>> flags;  // by field name, as typed
  std::string out;
  int64_t repetitions = 1;
  bool detailed = false;
};

int64_t ResolveThreads(const RunSpec& spec) {
  const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  const int64_t threads = spec.threads == 0 ? cores : spec.threads;
  if (threads > 4 * cores) {
    throw Error(fmt::format("--threads {}: this machine has {} cores", threads, cores));
  }
  return threads;
}

std::string Title(const PlannedRun& run) {
  const std::string block =
      run.spec.design == "paged" ? fmt::format(" {}", run.spec.block_size) : std::string();
  return fmt::format("{} {}{}", run.model.name, run.spec.design, block);
}

/// Runs one planned run. Nothing when it was interrupted: half a run says nothing about a design.
std::optional<RunRecord> RunOnce(const PlannedRun& run, int64_t repetition,
                                 const RunOptions& options, Progress& progress,
                                 const InterruptGuard& interrupt) {
  const int64_t threads = ResolveThreads(run.spec);
  const Trace& trace = run.trace->trace;
  progress.BeginRun(Title(run), static_cast<int64_t>(trace.requests.size()),
                    run.trace->total_output_tokens);
  const std::unique_ptr<KvCache> cache = MakeCache(run);
  ThreadPool pool(static_cast<int>(threads));
  CpuExecutor executor(ExecutorConfig(run), *cache, pool);
  const EngineResult result =
      RunEngine(trace, run.spec.limits, *cache, executor,
                {.window = run.spec.window, .on_step = [&](const EngineProgress& step) {
                   progress.OnStep(step);
                   return !interrupt.interrupted();
                 }});
  if (result.stopped) {
    return std::nullopt;
  }
  progress.EndRun();
  return BuildRecord({.run = run,
                      .cache = *cache,
                      .metrics = result.metrics,
                      .executor = executor,
                      .repetition = repetition,
                      .repetitions = options.repetitions,
                      .threads = threads,
                      .detailed = options.detailed});
}

AxisValues CollectAxes(const RunOptions& options, std::optional<Suite>& suite) {
  AxisValues axes;
  if (!options.suite.empty()) {
    suite = LoadSuite(options.suite);
    axes = suite->axes;
  }
  for (const RunField& field : RunFields()) {
    const auto typed = options.flags.find(field.name);
    if (typed != options.flags.end()) {
      axes[std::string(field.name)] = SplitValues(field, typed->second);
    }
  }
  // A flag that names other requests replaces those of the suite altogether.
  if (suite && options.flags.contains("trace") && !options.flags.contains("lengths")) {
    axes.erase("lengths");
    if (!options.flags.contains("arrivals")) {
      axes.erase("arrivals");
    }
  }
  return axes;
}

int Run(const RunOptions& options, const std::string& command_line) {
  std::optional<Suite> suite;
  const AxisValues axes = CollectAxes(options, suite);
  if (!options.out.empty()) {
    CheckWritable(options.out);
  }
  const std::vector<PlannedRun> runs = PlanRuns(ExpandRuns(axes));
  ResultsFile file;
  file.kvbench = DescribeProgram();
  file.environment = DescribeEnvironment();
  file.run_info.command = command_line;
  file.run_info.started_at = TimestampNow();
  if (suite) {
    file.run_info.suite = suite->name;
  }
  const auto begin = std::chrono::steady_clock::now();
  InterruptGuard interrupt;
  Progress progress(static_cast<int64_t>(runs.size()) * options.repetitions);
  // Repetitions are the outer loop, so that a slow spell of the machine does not hit one design
  // alone.
  for (int64_t repetition = 0; repetition < options.repetitions; ++repetition) {
    for (const PlannedRun& run : runs) {
      std::optional<RunRecord> record;
      if (!interrupt.interrupted()) {
        record = RunOnce(run, repetition, options, progress, interrupt);
      }
      if (!record) {
        file.run_info.complete = false;
        break;
      }
      file.runs.push_back(std::move(*record));
    }
  }
  file.run_info.duration_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!options.out.empty()) {
    WriteFileAtomically(options.out, [&](std::ostream& out) { WriteResults(file, out); });
  }
  fmt::print("{}", RenderTable(file));
  std::fflush(stdout);  // before what stderr says about it
  if (!file.run_info.complete) {
    fmt::print(stderr, "\nInterrupted: {} of {} runs are finished{}.\n", file.runs.size(),
               static_cast<int64_t>(runs.size()) * options.repetitions,
               options.out.empty() ? "" : " and kept, marked incomplete");
  }
  if (options.out.empty()) {
    fmt::print(stderr, "Nothing was saved: --out FILE keeps the results as JSON.\n");
  } else {
    fmt::print(stderr, "Results: {}\n", options.out);
  }
  if (!file.run_info.complete) {
    return kInterrupted;
  }
  const bool failed = std::any_of(file.runs.begin(), file.runs.end(), [](const RunRecord& record) {
    return record.verification && !record.verification->passed;
  });
  return failed ? 1 : 0;
}

}  // namespace

void AddRunCommand(CLI::App& app, const std::string& command_line, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      app.add_subcommand("run", "Replay a trace through cache designs and measure them");
  command->footer(kExamples);
  command
      ->add_option("suite", options->suite,
                   "a built-in suite (quick) or a JSON file with these parameters as keys")
      ->type_name("SUITE");
  for (const RunField& field : RunFields()) {
    command
        ->add_option_function<std::string>(
            "--" + std::string(field.name),
            [options, name = std::string(field.name)](const std::string& text) {
              options->flags[name] = text;
            },
            std::string(field.help))
        ->type_name(std::string(field.value_name))
        ->group(std::string(field.group));
  }
  command->add_option("--repetitions", options->repetitions, "measure everything so often [1]")
      ->type_name("N")
      ->check(CLI::Range(1, 10'000))
      ->group("How it runs");
  command->add_option("--out", options->out, "write the results there as JSON")
      ->type_name("FILE")
      ->group("Result");
  command->add_flag("--detailed", options->detailed, "keep one value for each request")
      ->group("Result");
  command->callback(
      [options, command_line, &exit_code] { exit_code = Run(*options, command_line); });
}

}  // namespace kvbench
