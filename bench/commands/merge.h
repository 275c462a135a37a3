#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace kvbench {

/// Adds `kvbench merge A B... --out FILE`: one results file of several of the same suite.
/// `command_line` is kept in it.
void AddMergeCommand(CLI::App& app, const std::string& command_line);

}  // namespace kvbench
