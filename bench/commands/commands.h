#pragma once

#include <string>

#include "bench/commands/command_line.h"

namespace kvbench {

/// How the program was called, and what it gives back. Outlives the parsing of the command line.
struct Invocation {
  std::string command_line;  ///< is kept in the files that are written
  int exit_code = 0;         ///< of a command that ran to its end
};

// The subcommands, a file each. The work is done in the subcommand's callback, which throws Error.

/// `kvbench run [SUITE]`: replays traces through cache designs, prints the table, writes the
/// results. Exit code 1 where a verification failed.
void AddRunCommand(Command app, Invocation& invocation);

/// `kvbench paper`: the vLLM paper's figures beside ours. Exit code 1 when a row lies outside its
/// tolerance.
void AddPaperCommand(Command app, Invocation& invocation);

/// `kvbench compare BASE NEW...` and `kvbench compare --exec BASE NEW SUITE`: what changed between
/// results files, or between two programs that run turn by turn. Exit code 1 where something is
/// slower or changed.
void AddCompareCommand(Command app, Invocation& invocation);

/// `kvbench merge A B... --out FILE`: one results file of several of the same suite.
void AddMergeCommand(Command app, Invocation& invocation);

/// `kvbench export`: results in other tools' formats.
void AddExportCommand(Command app, Invocation& invocation);

/// `kvbench report`: results as tables, or as one page with charts.
void AddReportCommand(Command app, Invocation& invocation);

/// `kvbench plan`: what a model leaves to its KV cache on a machine, what fits into it, and what
/// would.
void AddPlanCommand(Command app, Invocation& invocation);

/// `kvbench trace make | convert | stats`: generates a request trace, turns any trace into our JSON
/// lines, and describes one.
void AddTraceCommand(Command app, Invocation& invocation);

/// `kvbench info`: what this machine is and what its CPU reaches with the kernels of a run.
void AddInfoCommand(Command app, Invocation& invocation);

}  // namespace kvbench
