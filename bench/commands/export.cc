#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/error.h"
#include "base/json.h"
#include "base/quoting.h"
#include "bench/commands/command_line.h"
#include "bench/commands/commands.h"
#include "bench/commands/flags.h"
#include "bench/input/results_input.h"
#include "bench/output/output_file.h"
#include "bench/run/trace_of_run.h"
#include "results/export/export_csv.h"
#include "results/export/export_vllm.h"
#include "workloads/traces/trace_writer.h"

namespace kvbench {
namespace {

constexpr const char* kExportExamples =
    R"(vllm   the keys of `vllm bench serve --save-result`, one JSON object a line and run, as its
       --append-result writes them; into a folder: a file for each run
csv    one row a run, a column for each number of the record: kv.usage_per_step.live
trace  the requests as JSON lines that `kvbench run --trace` reads; needs runs made with --detailed

Examples (the first line makes the file that the others read):
  kvbench run --model opt-13b --design contiguous-max,paged --executor modelled --hardware \
    a100-sxm4-40gb --lengths sharegpt --rate 2 --requests 200 --detailed --out r.json
  kvbench export r.json --format vllm --out vllm.jsonl
  kvbench export r.json --format csv --only design=paged
  kvbench export r.json --format trace --out requests.jsonl
)";

struct ExportFlags : ResultsFlags {
  std::string format;
};

bool IsFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

void ExportVllm(const ResultsInput& input, const std::string& out) {
  const auto write_run = [](const ResultsFile& file, const RunRecord& run, std::ostream& stream) {
    stream << DumpJson(VllmJson(file, run)) << "\n";
  };
  if (!IsFolder(out)) {
    WriteOutput(out, [&](std::ostream& stream) {
      for (const auto& [path, file] : input.results) {
        for (const RunRecord& run : file.runs) {
          write_run(file, run, stream);
        }
      }
    });
    return;
  }
  int64_t number = 0;
  for (const auto& [path, results] : input.results) {
    const ResultsFile& file = results;
    for (const RunRecord& run : file.runs) {
      const std::string name = fmt::format("run-{:04}.json", number++);
      WriteFileAtomically((std::filesystem::path(out) / name).string(),
                          [&](std::ostream& stream) { write_run(file, run, stream); });
    }
  }
}

void ExportTrace(const ResultsInput& input, const std::string& out) {
  const RunTrace trace = TraceOfRuns(input.Runs());
  WriteOutput(out, [&](std::ostream& stream) { WriteTrace(trace.trace, stream); });
  fmt::print(stderr, "{} requests, sha256 {}{}\n", trace.trace.requests.size(), trace.digest,
             out == "-" ? "" : fmt::format(", written to {}", ShownPath(out)));
  if (!trace.note.empty()) {
    fmt::print(stderr, "{}\n", trace.note);
  }
}

void Export(const ExportFlags& flags) {
  const bool vllm = flags.format == "vllm";
  if (!vllm && flags.format != "csv" && flags.format != "trace") {
    throw Error(
        fmt::format("--format {} is none: there are vllm, csv and trace", Quoted(flags.format)));
  }
  if (!vllm || !IsFolder(flags.out)) {
    CheckOutput(flags.out);
  }
  InputOptions options;
  options.read.wants_timeline = NoTimeline;
  options.only = flags.only;
  const ResultsInput input = ReadResultsInput(flags.files, options);
  if (vllm) {
    ExportVllm(input, flags.out);
  } else if (flags.format == "csv") {
    WriteOutput(flags.out, [&](std::ostream& out) { WriteRunsCsv(input.Runs(), out); });
  } else {
    ExportTrace(input, flags.out);
  }
}

}  // namespace

void AddExportCommand(Command app, Invocation&) {
  const auto flags = std::make_shared<ExportFlags>();
  const Command command = app.Subcommand("export", "Write results in other tools' formats");
  command.Footer(kExportExamples);
  command.Add("--format", flags->format, "vllm, csv or trace").Required().Type("FORMAT");
  AddResultsFlags(command, *flags, "files of `kvbench run --out`",
                  "the file to write, or for vllm a folder (-: stdout)");
  command.Do([flags] { Export(*flags); });
}

}  // namespace kvbench
