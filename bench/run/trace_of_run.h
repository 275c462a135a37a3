#pragma once

#include <string>
#include <vector>

#include "results/record/record.h"
#include "workloads/traces/request.h"

namespace kvbench {

/// The requests of a run, as its record has them.
struct RunTrace {
  Trace trace;
  std::string digest;
  std::string note;  ///< a sentence where the digest is not the record's: why; else empty
};

/// The trace of runs that all have the same one, from a run that kept its requests (--detailed), at
/// best one whose digest comes out as recorded. A record holds no output length of a request that
/// was rejected or did not finish, and no prefix ids: such requests are left out, and the note says
/// so. Throws Error where no run kept its requests, and where the runs have several traces.
RunTrace TraceOfRuns(const std::vector<const RunRecord*>& runs);

}  // namespace kvbench
