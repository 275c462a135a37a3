#include "bench/input/results_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/quoting.h"
#include "bench/input/mapped_file.h"
#include "results/json/json_scanner.h"
#include "results/record/label.h"

namespace kvbench {
namespace {

/// Results are joined by label and repetition: two runs that are called the same cannot be told
/// apart.
void CheckUnique(const ResultsInput& input) {
  std::map<std::pair<std::string_view, int64_t>, const std::string*> first_in;
  for (const InputFile<ResultsFile>& file : input.results) {
    for (const RunRecord& run : file.content.runs) {
      const auto [known, is_new] = first_in.try_emplace({run.label, run.repetition}, &file.path);
      if (is_new) {
        continue;
      }
      const std::string where = *known->second == file.path
                                    ? fmt::format("{} has two runs", ShownPath(file.path))
                                    : fmt::format("{} and {} both have a run",
                                                  ShownPath(*known->second), ShownPath(file.path));
      throw Error(fmt::format("{} with the label {} and repetition {}: give one of them", where,
                              Quoted(run.label, 400), run.repetition));
    }
  }
}

/// As compare and merge do: runs of two suites have different axes, and a table of both would set
/// side by side what was never meant to be.
void CheckOneSuite(const ResultsInput& input) {
  const auto name = [](const std::optional<std::string>& suite) {
    return suite ? "suite " + Quoted(*suite) : std::string("no suite");
  };
  for (const InputFile<ResultsFile>& file : input.results) {
    const InputFile<ResultsFile>& first = input.results.front();
    if (file.content.run_info.suite != first.content.run_info.suite) {
      throw Error(
          fmt::format("{} is of {} and {} of {}: give files of one suite, and run once for "
                      "each suite",
                      ShownPath(first.path), name(first.content.run_info.suite),
                      ShownPath(file.path), name(file.content.run_info.suite)));
    }
  }
}

void CheckWanted(const std::string& path, ResultsKind kind, const InputOptions& options) {
  const char* what = kind == ResultsKind::kBenchmark ? "kvbench_micro"
                     : kind == ResultsKind::kPaper   ? "kvbench paper"
                                                     : nullptr;
  if (what != nullptr && !options.others) {
    throw Error(fmt::format("{} is a file of {}; results of `kvbench run --out` are needed here",
                            ShownPath(path), what));
  }
}

void AddFile(const std::string& path, const InputOptions& options, ResultsInput& input) {
  MappedFile file(path);
  const std::string_view text = file.text();
  const ResultsKind kind = KindOfResults(text);
  CheckWanted(path, kind, options);
  if (kind == ResultsKind::kBenchmark || kind == ResultsKind::kPaper) {
    if (const std::string why = WhyNotJson(text); !why.empty()) {
      throw Error(fmt::format("{}: {}", ShownPath(path), why));
    }
    auto& files = kind == ResultsKind::kPaper ? input.papers : input.benchmarks;
    files.push_back({path, std::string(text)});
    return;
  }
  try {
    ReadOptions read = options.read;
    read.on_progress = [&file](size_t bytes) { file.Release(bytes); };
    input.results.push_back({path, ParseResults(text, read)});
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", ShownPath(path), error.what()));
  }
  if (input.results.back().content.runs.empty()) {
    throw Error(fmt::format("{} holds no runs{}", ShownPath(path),
                            input.results.back().content.run_info.complete
                                ? ""
                                : ": it was interrupted before the first was finished"));
  }
}

}  // namespace

std::vector<const RunRecord*> ResultsInput::Runs() const {
  std::vector<const RunRecord*> runs;
  for (const InputFile<ResultsFile>& file : results) {
    for (const RunRecord& run : file.content.runs) {
      runs.push_back(&run);
    }
  }
  return runs;
}

ResultsInput ReadResultsInput(const std::vector<std::string>& paths, const InputOptions& options) {
  ResultsInput input;
  for (const std::string& path : paths) {
    AddFile(path, options, input);
  }
  CheckOneSuite(input);
  CheckUnique(input);
  if (options.only.empty() || input.results.empty()) {
    return input;
  }
  for (InputFile<ResultsFile>& file : input.results) {
    std::erase_if(file.content.runs,
                  [&](const RunRecord& run) { return !HasParts(run.label, options.only); });
  }
  std::erase_if(input.results, [](const auto& file) { return file.content.runs.empty(); });
  if (input.results.empty()) {
    throw Error(
        fmt::format("no run has {} in its label; a label reads: design=paged block-size=16 ...",
                    Quoted(fmt::format("{}", fmt::join(options.only, " ")), 200)));
  }
  return input;
}

ComparedFile ReadComparedFile(const std::string& path, bool timeline) {
  MappedFile file(path);
  try {
    return ParseComparedFile(
        file.text(), ShownPath(path),
        {.timeline = timeline, .on_progress = [&](size_t bytes) { file.Release(bytes); }});
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", ShownPath(path), error.what()));
  }
}

}  // namespace kvbench
