#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace kvbench {

/// Adds `kvbench info`: what this machine is and what its CPU reaches with the kernels of a run.
/// The work is done in the subcommand's callback; it throws Error.
void AddInfoCommand(CLI::App& app);

}  // namespace kvbench
