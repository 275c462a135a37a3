#include "bench/commands/flags.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/quoting.h"
#include "base/units.h"
#include "bench/commands/command_line.h"
#include "results/compare/compare.h"

namespace kvbench {
namespace {

/// "5%", "5 %" and "0.05" are the same.
double ParseThreshold(const std::string& text) {
  std::string number = text;
  const bool percent = number.ends_with('%');
  if (percent) {
    number.pop_back();
    while (number.ends_with(' ')) {
      number.pop_back();
    }
  }
  const double value = ParseNumber(number) / (percent ? 100 : 1);
  if (value <= 0 || value > 100) {
    throw Error(
        fmt::format("--threshold {}: a difference such as 5% or 0.05, above 0", Quoted(text)));
  }
  return value;
}

}  // namespace

void AddResultsFlags(Command command, ResultsFlags& flags, const std::string& files_help,
                     const std::string& out_help) {
  command.Add("results", flags.files, files_help).Required().Type("RESULTS");
  command
      .Add("--only", flags.only,
           "runs with this in their label alone: design=paged; may be given several times")
      .Type("AXIS=VALUE")
      .Repeatable();
  command.Add("--out", flags.out, out_help).Type("FILE").ShowDefault();
}

std::vector<CommandOption> AddVerdictFlags(Command command, VerdictFlags& flags) {
  return {command.Add("--threshold", flags.threshold, "how much longer is slower: 5% or 0.05")
              .Type("SHARE")
              .ShowDefault(),
          command
              .Add("--metric", flags.metrics,
                   "timings to compare, as the results file names them [output_throughput; "
                   "normalized_latency_mean_s_per_token where requests arrive by the clock; "
                   "real_time_ns of benchmarks]")
              .Type("NAME,...")
              .CommaSeparated(),
          command.AddFlag("--absolute", flags.absolute,
                          "timings of different days or machines as they are, not as shares of the "
                          "machines' read roofs")};
}

CompareOptions ParseVerdictFlags(const VerdictFlags& flags) {
  CompareOptions options;
  options.threshold = ParseThreshold(flags.threshold);
  options.metrics = flags.metrics;
  options.absolute = flags.absolute;
  return options;
}

}  // namespace kvbench
