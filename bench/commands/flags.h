#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kvbench {

// Flags that several subcommands have.

/// What the commands are told that read results and write something else.
struct ResultsFlags {
  std::vector<std::string> files;
  std::vector<std::string> only;  ///< InputOptions::only
  std::string out = "-";          ///< WriteOutput
};

/// RESULTS..., --only and --out. `flags` has to live as long as `command`.
void AddResultsFlags(CLI::App& command, ResultsFlags& flags, const std::string& files_help,
                     const std::string& out_help);

struct CompareOptions;

/// How runs are judged against a base, as it is written on the command line.
struct VerdictFlags {
  std::string threshold = "5%";
  std::vector<std::string> metrics;
  bool absolute = false;
};

/// --threshold, --metric and --absolute. `flags` has to live as long as `command`.
std::vector<CLI::Option*> AddVerdictFlags(CLI::App& command, VerdictFlags& flags);

/// Throws Error for a threshold that is none.
CompareOptions ParseVerdictFlags(const VerdictFlags& flags);

}  // namespace kvbench
