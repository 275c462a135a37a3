#pragma once

#include <string>

namespace CLI {
class App;
}

namespace kvbench {

/// `kvbench paper`: the vLLM paper's figures beside ours. `exit_code` is 1 when a row lies outside
/// its tolerance.
void AddPaperCommand(CLI::App& app, const std::string& command_line, int& exit_code);

}  // namespace kvbench
