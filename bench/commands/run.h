#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace kvbench {

/// Adds `kvbench run [SUITE]`: replays traces through cache designs, prints the table, writes the
/// results. `command_line` is kept in the results file. `exit_code` becomes 1 where a verification
/// failed.
void AddRunCommand(CLI::App& app, const std::string& command_line, int& exit_code);

}  // namespace kvbench
