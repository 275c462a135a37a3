#pragma once

#include <cstdint>
#include <vector>

#include "cache/kv_cache.h"

namespace kvbench {

/// One sequence's part of a step: `count` tokens from position `first_position` on. A decode has
/// count 1, a prompt or a chunk of it has more.
struct StepEntry {
  SequenceId sequence = 0;
  int64_t request = 0;         ///< index into the trace; with a position it names a token
  int64_t first_position = 0;  ///< tokens of the sequence whose K and V are in the cache already
  int64_t count = 0;
  bool generates =
      false;  ///< the step ends with a new token: all known tokens are computed by then

  int64_t context() const { return first_position + count; }
};

/// What a step runs.
struct StepBatch {
  std::vector<StepEntry> entries;
  int64_t tokens = 0;      ///< sum of counts
  int64_t generating = 0;  ///< entries that generate a token

  void clear() {
    entries.clear();
    tokens = 0;
    generating = 0;
  }
  void Add(const StepEntry& entry) {
    entries.push_back(entry);
    tokens += entry.count;
    generating += entry.generates ? 1 : 0;
  }
};

}  // namespace kvbench
