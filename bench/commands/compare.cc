#include "results/compare/compare.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <future>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/quoting.h"
#include "bench/commands/command_line.h"
#include "bench/commands/commands.h"
#include "bench/commands/flags.h"
#include "bench/compare/exec_compare.h"
#include "bench/input/results_input.h"
#include "bench/output/interrupt.h"
#include "bench/output/output_file.h"
#include "results/compare/writers/compare_writers.h"

namespace kvbench {

namespace {

constexpr const char* kCompareExamples =
    R"(Counts must be equal. Timings are judged over repetitions: slower is a ratio beyond the threshold
with an interval that does not reach it. The exit code is 1 when a run is slower or changed.

Examples:
  kvbench compare base.json new.json
  kvbench compare results/reference/ci.json build/ci.json --threshold 300% --format github
  kvbench compare base.json new.json --metric mean_ttft_ms,p99_tpot_ms --format markdown
  kvbench compare --exec build-main/bin/kvbench build/release/bin/kvbench ci
)";

constexpr int kInterrupted = 130;

struct CompareFlags : VerdictFlags {
  std::vector<std::string> names;
  bool exec = false;
  std::string format = "text";
  std::string out = "-";
  int64_t budget = 60;
};

CompareReport CompareAll(const CompareFlags& flags, const CompareOptions& options) {
  if (flags.names.size() < 2) {
    throw Error("compare needs a base and a new results file: kvbench compare BASE NEW");
  }
  CompareReport report{.threshold = options.threshold, .comparisons = {}};
  // The first two are read side by side.
  std::future<ComparedFile> first =
      std::async(std::launch::async, [&] { return ReadComparedFile(flags.names[1]); });
  const ComparedFile base = ReadComparedFile(flags.names[0]);
  for (size_t i = 1; i < flags.names.size(); ++i) {
    const ComparedFile next = i == 1 ? first.get() : ReadComparedFile(flags.names[i]);
    report.comparisons.push_back(CompareFiles(base, next, options));
  }
  return report;
}

CompareReport CompareTurnByTurn(const CompareFlags& flags, const CompareOptions& options,
                                bool& interrupted) {
  if (flags.names.size() != 3) {
    throw Error(
        "--exec needs two programs and a suite: kvbench compare --exec BASE_PROGRAM NEW_PROGRAM "
        "SUITE");
  }
  const InterruptGuard interrupt;
  const bool terminal = isatty(STDERR_FILENO) != 0;
  ExecCompareOptions exec{.base = flags.names[0],
                          .next = flags.names[1],
                          .suite = flags.names[2],
                          .compare = options,
                          .budget = flags.budget,
                          .on_pair = {}};
  exec.on_pair = [&](int64_t pairs) {
    if (terminal) {
      fmt::print(stderr, "\r\033[Kpair {} of at most {}", pairs, flags.budget);
      std::fflush(stderr);
    }
    return !interrupt.interrupted();
  };
  CompareReport report{.threshold = options.threshold, .comparisons = {CompareByExec(exec)}};
  if (terminal) {
    fmt::print(stderr, "\r\033[K");
  }
  interrupted = interrupt.interrupted();
  return report;
}

int Compare(const CompareFlags& flags) {
  const CompareWriter writer = FindCompareWriter(flags.format);
  if (writer == nullptr) {
    throw Error(
        fmt::format("unknown format {}: there are {}", Quoted(flags.format), CompareFormats()));
  }
  const CompareOptions options = ParseVerdictFlags(flags);
  CheckOutput(flags.out);
  bool interrupted = false;
  const CompareReport report =
      flags.exec ? CompareTurnByTurn(flags, options, interrupted) : CompareAll(flags, options);
  const std::string text = writer(report);
  WriteOutput(flags.out, [&](std::ostream& out) { out << text; });
  if (flags.out != "-") {
    WriteStandardOutput([&](std::ostream& out) {
      for (const Comparison& comparison : report.comparisons) {
        out << fmt::format("{} against {}: {}\n", comparison.next, comparison.base,
                           SummaryText(comparison));
      }
    });
  }
  return interrupted ? kInterrupted : report.failed() ? 1 : 0;
}

}  // namespace

void AddCompareCommand(Command app, Invocation& invocation) {
  const auto flags = std::make_shared<CompareFlags>();
  const Command command = app.Subcommand("compare", "Say what became slower, faster or different");
  command.Footer(kCompareExamples);
  command
      .Add("names", flags->names,
           "results files, or the JSON of kvbench_micro; with --exec two programs and a "
           "suite")
      .Type("BASE NEW...")
      .Required();
  command.AddFlag("--exec", flags->exec,
                  "run two programs turn by turn until their timings are told apart");
  AddVerdictFlags(command, *flags);
  command.Add("--format", flags->format, CompareFormats()).Type("FORMAT").ShowDefault();
  command.Add("--out", flags->out, "the file to write (-: stdout)").Type("FILE").ShowDefault();
  command.Add("--budget", flags->budget, "pairs of turns at most, with --exec")
      .Type("N")
      .Range(1, 60)
      .ShowDefault();
  command.Do([flags, &invocation] { invocation.exit_code = Compare(*flags); });
}

}  // namespace kvbench
