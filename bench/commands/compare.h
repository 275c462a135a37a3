#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace kvbench {

/// Adds `kvbench compare BASE NEW...` and `kvbench compare --exec BASE NEW SUITE`: what changed
/// between results files, or between two programs that run turn by turn. `exit_code` becomes 1
/// where something is slower or changed.
void AddCompareCommand(CLI::App& app, int& exit_code);

}  // namespace kvbench
