#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace kvbench {

/// Adds `kvbench trace make | convert | stats`: generate a request trace, turn any trace into our
/// JSON lines, and describe one. The work is done in the subcommands' callbacks; they throw Error.
void AddTraceCommand(CLI::App& app);

}  // namespace kvbench
