#pragma once

#include <cstdint>

#include "cache/kv_cache.h"
#include "workloads/traces/request.h"

namespace kvbench {

/// A request that has arrived and has not been admitted.
struct Arrival {
  int64_t index = 0;  ///< of the request in the trace
  Request request;
};

/// What happened to one request. Times in picoseconds of the run's clock, -1: never.
struct RequestOutcome {
  int64_t arrival_ps = 0;
  int64_t admitted_ps = -1;  ///< start of the step that first computed something of it
  int64_t first_token_ps = -1;
  /// The newest token. While the sequence is in step (it generated in the last step that ran) this
  /// is not kept: its newest token came at that step's end.
  int64_t last_token_ps = -1;
  int64_t finished_ps = -1;
  int32_t preemptions = 0;
  bool rejected = false;
  bool in_step = false;
};

/// A sequence that has been admitted at least once.
struct Sequence {
  int64_t index = 0;  ///< of its request in the trace
  Request request;
  RequestOutcome outcome;

  /// All known tokens but the newest are in the cache, and each step adds one. Then the counts
  /// below are not kept: they follow from `lead` and the scheduler's round.
  bool decoding = false;
  int64_t lead = 0;  ///< decoding: output tokens so far less the scheduler's round

  int64_t generated = 0;  ///< output tokens so far; a preempted sequence keeps them
  int64_t computed = 0;   ///< tokens whose K and V are in the cache
  int64_t held = 0;       ///< tokens that have a slot: those computed and the newest one
  int64_t computed_before =
      0;              ///< the same when it was last preempted: computing those again is a recompute
  uint32_t term = 0;  ///< counts its terms of decoding, so that an old end of one is recognised

  int64_t known_tokens() const { return request.prompt_tokens + generated; }
  int64_t final_length() const { return request.total_tokens(); }
};

}  // namespace kvbench
