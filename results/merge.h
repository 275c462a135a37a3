#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace kvbench {

struct MergeSummary {
  int64_t files = 0;
  int64_t runs = 0;
  int64_t labels = 0;  ///< different ones
};

/// Writes one results file that holds all runs of several files of the same suite, made on
/// different days or machines. Everything about a run stays as it is, its samples too, but for its
/// repetition: those of a later file follow those of the earlier ones. Each run says in `origin`
/// which invocation and machine it comes from. What is said of the file as a whole is null where
/// the files differ. One run is in memory at a time; files are read twice. Throws BadResults: a
/// file that cannot be read, has no runs, has a label and repetition twice, is of another suite, or
/// is there twice.
MergeSummary MergeResults(const std::vector<std::string>& paths, const std::string& command_line,
                          std::ostream& out);

}  // namespace kvbench
