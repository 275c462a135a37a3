#pragma once

#include <string>
#include <vector>

#include "results/compare/compared_file.h"
#include "results/record/json_reader.h"
#include "results/record/record.h"

namespace kvbench {

/// A file that was given on the command line.
template <typename Content>
struct InputFile {
  std::string path;
  Content content;
};

/// What a command was given, by kind, each in the order of the command line.
struct ResultsInput {
  std::vector<InputFile<ResultsFile>> results;
  std::vector<InputFile<std::string>> benchmarks;  ///< JSON text of kvbench_micro
  std::vector<InputFile<std::string>> papers;      ///< JSON text of `kvbench paper --out`

  /// All runs, file after file. Points into `results`.
  std::vector<const RunRecord*> Runs() const;
};

struct InputOptions {
  ReadOptions read;
  std::vector<std::string> only;  ///< "design=paged": parts of the label that a run has to have
  bool others = false;            ///< kvbench_micro's and `kvbench paper`'s files are taken as well
};

/// Reads files. Throws Error, a sentence with the file's name: for a file that cannot be read or is
/// none of ours, for one without runs, for files of different suites, for two runs of the same
/// label and repetition, and where `only` leaves no run.
ResultsInput ReadResultsInput(const std::vector<std::string>& paths, const InputOptions& options);

/// Reads a results file, or one of kvbench_micro, for a comparison. Throws Error, a sentence with
/// the file's name.
/// @param timeline keep when steps ended
ComparedFile ReadComparedFile(const std::string& path, bool timeline = false);

}  // namespace kvbench
