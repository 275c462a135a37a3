#include "bench/commands/results_flags.h"

#include <CLI/CLI.hpp>

namespace kvbench {

void AddResultsFlags(CLI::App& command, ResultsFlags& flags, const std::string& files_help,
                     const std::string& out_help) {
  command.add_option("results", flags.files, files_help)->required()->type_name("RESULTS");
  command
      .add_option("--only", flags.only,
                  "runs with this in their label alone: design=paged; may be given several times")
      ->type_name("AXIS=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--out", flags.out, out_help)->type_name("FILE")->capture_default_str();
}

}  // namespace kvbench
