#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <ostream>

#include "base/error.h"
#include "base/units.h"
#include "bench/commands/command_line.h"
#include "bench/commands/commands.h"
#include "bench/machine/environment.h"
#include "bench/machine/gpu.h"
#include "bench/machine/read_roof_sampler.h"
#include "bench/output/interrupt.h"
#include "bench/output/output_file.h"
#include "bench/output/trace_events.h"
#include "bench/run/rate_table.h"
#include "bench/run/run_all.h"
#include "bench/run/run_once.h"
#include "bench/run/run_plan.h"
#include "bench/run/run_spec.h"
#include "results/record/json_writer.h"
#include "results/record/record.h"
#include "results/table/predictions.h"
#include "results/table/table.h"

namespace kvbench {

namespace {

constexpr const char* kRunExamples =
    R"(Every parameter takes a list (a,b,c) or a range (1..4+0.5, 1..256*2), and is then an axis.

Examples:
  kvbench run quick
  kvbench run quick --model twin-mha --design paged --block-size 4,16,64 --out blocks.json
  kvbench run --executor modelled --hardware a100-sxm4-40gb --model opt-13b --lengths sharegpt \
      --rate 2 --duration 1h --design contiguous-max,contiguous-oracle,paged
  kvbench run --executor modelled --hardware a100-sxm4-40gb --model opt-13b --lengths sharegpt \
      --duration 600s --design contiguous-max,paged --find-rate normalized_latency=0.5s
  kvbench run --lengths sharegpt:scale=0.25 --requests 50 --design contiguous-max,paged \
      --kv-memory 32MiB --max-model-len 512
  kvbench run quick --model twin-mha --requests 20 --trace-events events.json
  kvbench run quick --model twin-mha --repetitions 9 --read-roof --out base.json
)";

constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells have it

struct RunOptions {
  std::string suite;
  std::map<std::string, std::string, std::less<>> flags;  // by field name, as typed
  std::string out;
  std::string trace_events;
  bool read_roof = false;
  RunAllOptions how;
};

/// A test hook in the environment: a share by which every measured step is made longer. Each record
/// says so.
double PlantedBusyWait() {
  const char* share = std::getenv("KVBENCH_TEST_BUSY_WAIT");
  return share == nullptr ? 0 : ParseNumber(share);
}

/// A suite's set of runs with the flags in place of its own values.
void ApplyFlags(const RunOptions& options, AxisValues& axes) {
  for (const RunField& field : RunFields()) {
    const auto typed = options.flags.find(field.name);
    if (typed != options.flags.end()) {
      axes[std::string(field.name)] = SplitValues(field, typed->second);
    }
  }
  // A flag that names other requests replaces those of the suite altogether.
  if (options.flags.contains("trace") && !options.flags.contains("lengths")) {
    axes.erase("lengths");
    if (!options.flags.contains("arrivals")) {
      axes.erase("arrivals");
    }
  }
  if (options.flags.contains("duration") && !options.flags.contains("requests")) {
    axes.erase("requests");
  }
}

std::vector<RunSpec> CollectRuns(const RunOptions& options, std::optional<Suite>& suite) {
  std::vector<AxisValues> sets(1);
  if (!options.suite.empty()) {
    suite = LoadSuite(options.suite);
    sets = suite->Sets();
  }
  std::vector<RunSpec> specs;
  for (AxisValues& axes : sets) {
    ApplyFlags(options, axes);
    for (RunSpec& spec : ExpandRuns(axes)) {
      specs.push_back(std::move(spec));
    }
  }
  return specs;
}

/// Throws Error where --trace-events would have nothing to write, or nowhere.
void CheckTraceEvents(const RunOptions& options, const std::vector<RunSpec>& specs) {
  if (std::all_of(specs.begin(), specs.end(), [](const RunSpec& s) { return s.modelled(); })) {
    throw Error(
        "--trace-events is for measured runs: a modelled run executes nothing, so there is "
        "nothing to show");
  }
  if (options.trace_events == options.out) {
    throw Error("--trace-events and --out name the same file: they are two");
  }
  CheckWritable(options.trace_events);
}

void SaveTraceEvents(const std::string& path, const TraceEvents& events, bool any_modelled) {
  WriteFileAtomically(path, [&](std::ostream& out) { events.Write(out); });
  fmt::print(stderr, "Trace events: {} ({} events; ui.perfetto.dev and chrome://tracing open it)\n",
             path, events.events());
  if (any_modelled) {
    fmt::print(stderr, "Modelled runs have no trace events: they execute nothing.\n");
  }
  if (events.left_out() > 0) {
    fmt::print(stderr, "{} events are left out of it: it holds {} at most; trace fewer requests.\n",
               events.left_out(), TraceEvents::kMostEvents);
  }
}

/// Threads of the run on the CPU that has most; 1 where none is.
int MostThreads(const std::vector<PlannedRun>& runs) {
  int64_t threads = 1;
  for (const PlannedRun& run : runs) {
    if (!run.spec.modelled() && !run.spec.on_gpu()) {
      threads = std::max(threads, ResolveThreads(run.spec));
    }
  }
  return static_cast<int>(threads);
}

int Run(const RunOptions& options, const std::string& command_line) {
  std::optional<Suite> suite;
  const std::vector<RunSpec> specs = CollectRuns(options, suite);
  if (!options.out.empty()) {
    CheckWritable(options.out);
  }
  RunAllOptions how = options.how;
  TraceEvents events;
  if (!options.trace_events.empty()) {
    CheckTraceEvents(options, specs);
    how.trace_events = &events;
  }
  std::vector<PlannedRun> runs = PlanRuns(specs);
  std::optional<ReadRoofSampler> read_roof;
  if (options.read_roof) {
    how.read_roof = &read_roof.emplace(MostThreads(runs));
  }
  how.busy_wait = PlantedBusyWait();
  ResultsFile file;
  file.kvbench = DescribeProgram();
  file.environment = DescribeEnvironment();
  for (const PlannedRun& run : runs) {
    if (run.device) {
      file.environment.gpu = DescribeGpu(run.device->properties());
      file.environment.read_roof_bytes_per_s = MeasureReadRoof(*run.device);
      break;
    }
  }
  file.run_info.command = command_line;
  file.run_info.started_at = TimestampNow();
  if (suite) {
    file.run_info.suite = suite->name;
  }
  const auto begin = std::chrono::steady_clock::now();
  InterruptGuard interrupt;
  std::vector<DoneRun> done = RunAll(runs, how, interrupt);
  std::vector<SearchedRun> searched;
  file.runs.reserve(done.size());  // searched points into it
  for (DoneRun& run : done) {
    if (run.record) {
      if (run.record->executor.roofs && !file.environment.gpu) {
        file.environment.read_roof_bytes_per_s = run.record->executor.roofs->read_bytes_per_s;
        file.environment.read_roof_spread = run.record->executor.roofs->read_spread;
      }
      file.runs.push_back(std::move(*run.record));
    } else {
      file.run_info.complete = false;
    }
    if (run.bounds) {
      searched.push_back({&file.runs.back(), *run.bounds});
    }
  }
  if (read_roof && read_roof->bytes_per_s()) {
    file.environment.read_roof_bytes_per_s = read_roof->bytes_per_s();
    file.environment.read_roof_spread = read_roof->spread();
  }
  file.run_info.duration_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!options.out.empty()) {
    WriteFileAtomically(options.out, [&](std::ostream& out) { WriteResults(file, out); });
  }
  fmt::print("{}{}", RenderTable(file), RenderPredictions(file));
  if (!searched.empty()) {
    fmt::print("\n{}", RateTable(searched));
  }
  std::fflush(stdout);  // before what stderr says about it
  if (!file.run_info.complete) {
    fmt::print(stderr, "\nInterrupted: {} of {} runs are finished{}.\n", file.runs.size(),
               done.size(), options.out.empty() ? "" : " and kept, marked incomplete");
  }
  if (options.out.empty()) {
    fmt::print(stderr, "Nothing was saved: --out FILE keeps the results as JSON.\n");
  } else {
    fmt::print(stderr, "Results: {}\n", options.out);
  }
  if (!options.trace_events.empty()) {
    SaveTraceEvents(options.trace_events, events,
                    std::any_of(specs.begin(), specs.end(),
                                [](const RunSpec& spec) { return spec.modelled(); }));
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

void AddRunCommand(Command app, Invocation& invocation) {
  auto options = std::make_shared<RunOptions>();
  const Command command =
      app.Subcommand("run", "Replay a trace through cache designs and measure them");
  command.Footer(kRunExamples);
  command
      .Add("suite", options->suite,
           "a built-in suite (quick, paper/fig2, ...) or a JSON file with these parameters as keys")
      .Type("SUITE");
  for (const RunField& field : RunFields()) {
    command
        .Add(
            "--" + std::string(field.name),
            [options, name = std::string(field.name)](const std::string& text) {
              options->flags[name] = text;
            },
            std::string(field.help))
        .Type(std::string(field.value_name))
        .Group(std::string(field.group));
  }
  command.Add("--repetitions", options->how.repetitions, "measure everything so often [1]")
      .Type("N")
      .Range(1, 10'000)
      .Group("How it runs");
  command.Add("--jobs", options->how.jobs, "modelled runs at one time [all cores]")
      .Type("N")
      .Range(1, 1'000)
      .Group("How it runs");
  command
      .AddFlag("--step-by-step", options->how.step_by_step,
               "modelled: no equal steps at once; the same result, slower")
      .Group("How it runs");
  command
      .AddFlag("--read-roof", options->read_roof,
               "measure what this machine reads from memory around the measured runs, with as many "
               "threads, so that files of different days and machines can be compared")
      .Group("How it runs");
  command.Add("--out", options->out, "write the results there as JSON")
      .Type("FILE")
      .Group("Result");
  command
      .Add("--trace-events", options->trace_events,
           "write what measured runs did when, for Perfetto or chrome://tracing")
      .Type("FILE")
      .Group("Result");
  command.AddFlag("--detailed", options->how.detailed, "keep one value for each request")
      .Group("Result");
  command.Do(
      [options, &invocation] { invocation.exit_code = Run(*options, invocation.command_line); });
}

}  // namespace kvbench
