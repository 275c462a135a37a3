#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace kvbench {

/// `kvbench plan`: what a model leaves to its KV cache on a machine, what fits into it, and what
/// would.
void AddPlanCommand(CLI::App& app);

}  // namespace kvbench
