#pragma once

#include <string>
#include <vector>

#include "bench/commands/command_line.h"

namespace kvbench {

// Flags that several subcommands have.

/// What the commands are told that read results and write something else.
struct ResultsFlags {
  std::vector<std::string> files;
  std::vector<std::string> only;  ///< InputOptions::only
  std::string out = "-";          ///< WriteOutput
};

/// RESULTS..., --only and --out. `flags` has to live as long as the command.
void AddResultsFlags(Command command, ResultsFlags& flags, const std::string& files_help,
                     const std::string& out_help);

struct CompareOptions;

/// How runs are judged against a base, as it is written on the command line.
struct VerdictFlags {
  std::string threshold = "5%";
  std::vector<std::string> metrics;
  bool absolute = false;
};

/// --threshold, --metric and --absolute. `flags` has to live as long as the command.
std::vector<CommandOption> AddVerdictFlags(Command command, VerdictFlags& flags);

/// Throws Error for a threshold that is none.
CompareOptions ParseVerdictFlags(const VerdictFlags& flags);

}  // namespace kvbench
