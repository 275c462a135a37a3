#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace kvbench {

/// A results file to merge.
struct MergeInput {
  std::string name;
  std::string_view text;
  /// As in ReadOptions; the text is gone through several times.
  std::function<void(size_t)> on_progress = nullptr;
};

struct MergeSummary {
  int64_t files = 0;
  int64_t runs = 0;
  int64_t labels = 0;  ///< different ones
};

/// Writes one results file that holds all runs of several files of the same suite, made on
/// different days or machines. Everything about a run stays as it is, its samples too, but for its
/// repetition: those of a later file follow those of the earlier ones. Each run says in `origin`
/// which invocation and machine it comes from. What is said of the file as a whole is null where
/// the files differ. One run is in memory at a time. Throws Error with the file's name: a
/// text that cannot be read, has no runs, has a label and repetition twice, is of another suite, or
/// is there twice.
MergeSummary MergeResults(const std::vector<MergeInput>& inputs, const std::string& command_line,
                          std::ostream& out);

}  // namespace kvbench
