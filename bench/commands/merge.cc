#include "results/compare/merge.h"

#include <fmt/format.h>

#include <cstdio>
#include <deque>
#include <memory>
#include <ostream>
#include <vector>

#include "base/error.h"
#include "base/quoting.h"
#include "bench/commands/command_line.h"
#include "bench/commands/commands.h"
#include "bench/input/mapped_file.h"
#include "bench/output/output_file.h"

namespace kvbench {

namespace {

constexpr const char* kMergeExamples =
    R"(Repetitions of later files follow those of earlier ones; each run keeps its samples and says in
`origin` which invocation and machine it comes from.

Examples:
  kvbench merge monday.json tuesday.json --out both.json
  kvbench compare both.json today.json
)";

struct MergeFlags {
  std::vector<std::string> files;
  std::string out;
};

void Merge(const MergeFlags& flags, const std::string& command_line) {
  if (flags.files.size() < 2) {
    throw Error("merge needs two results files or more: kvbench merge A B --out FILE");
  }
  std::deque<MappedFile> files;
  std::vector<MergeInput> inputs;
  for (const std::string& path : flags.files) {
    MappedFile& file = files.emplace_back(path);
    inputs.push_back({ShownPath(path), file.text(), [&](size_t bytes) { file.Release(bytes); }});
  }
  MergeSummary summary;
  WriteFileAtomically(
      flags.out, [&](std::ostream& out) { summary = MergeResults(inputs, command_line, out); });
  fmt::print(stderr, "Results: {} ({} runs of {} labels, from {} files)\n", flags.out, summary.runs,
             summary.labels, summary.files);
}

}  // namespace

void AddMergeCommand(Command app, Invocation& invocation) {
  const auto flags = std::make_shared<MergeFlags>();
  const Command command = app.Subcommand(
      "merge", "Join results files of the same suite, made on different days or machines");
  command.Footer(kMergeExamples);
  command.Add("files", flags->files, "results files of one suite").Type("FILE...").Required();
  command.Add("--out", flags->out, "write the joined results there as JSON")
      .Type("FILE")
      .Required();
  command.Do([flags, &invocation] { Merge(*flags, invocation.command_line); });
}

}  // namespace kvbench
