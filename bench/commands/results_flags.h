#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kvbench {

/// What the commands are told that read results and write something else.
struct ResultsFlags {
  std::vector<std::string> files;
  std::vector<std::string> only;  ///< InputOptions::only
  std::string out = "-";          ///< WriteOutput
};

/// RESULTS..., --only and --out. `flags` has to live as long as `command`.
void AddResultsFlags(CLI::App& command, ResultsFlags& flags, const std::string& files_help,
                     const std::string& out_help);

}  // namespace kvbench
