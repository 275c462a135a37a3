#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>

#include "base/error.h"
#include "bench/commands/command_line.h"
#include "bench/commands/commands.h"
#include "bench/machine/version.h"

namespace {

constexpr int kBadInput = 2;
constexpr int kMachine = 3;
constexpr int kDefect = 70;  // EX_SOFTWARE: not the user's fault

/// The command line, quoted where a shell needs it, so that it can be pasted again.
std::string QuotedLine(int argc, char** argv) {
  std::string line = "kvbench";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain =
        !word.empty() &&
        word.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:%@") ==
            std::string::npos;
    if (plain) {
      line += " " + word;
      continue;
    }
    line += " '";
    for (const char c : word) {
      line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    line += "'";
  }
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  const kvbench::CommandLine line(
      "kvbench",
      "kvbench measures KV caches of large language models: memory waste, throughput and latency.",
      fmt::format("kvbench {} ({}, {} build, {})", kvbench::Version(),
                  kvbench::Commit().empty() ? "no commit" : kvbench::Commit(), kvbench::BuildType(),
                  kvbench::Compiler()));
  const kvbench::Command app = line.root();
  app.RequireSubcommand();
  app.Footer("Start with: kvbench run quick");
  kvbench::Invocation invocation{.command_line = QuotedLine(argc, argv)};
  kvbench::AddRunCommand(app, invocation);
  kvbench::AddPaperCommand(app, invocation);
  kvbench::AddCompareCommand(app, invocation);
  kvbench::AddMergeCommand(app, invocation);
  kvbench::AddExportCommand(app, invocation);
  kvbench::AddReportCommand(app, invocation);
  kvbench::AddPlanCommand(app, invocation);
  kvbench::AddTraceCommand(app, invocation);
  kvbench::AddInfoCommand(app, invocation);
  try {
    line.Run(argc, argv);
    return invocation.exit_code;
  } catch (const kvbench::CommandLineError&) {
    return kBadInput;
  } catch (const kvbench::Error& error) {
    fmt::print(stderr, "kvbench: {}\n", error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "kvbench: out of memory: use a smaller model, --kv-memory or trace\n");
    return kMachine;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kvbench: internal error: {}; please report it with the command line\n",
               error.what());
    return kDefect;
  }
}
