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

/// What a step computes, summed: all that a step-time model looks at.
struct StepLoad {
  int64_t decodes = 0;         ///< entries of one token
  int64_t decode_context = 0;  ///< sum of their contexts: tokens whose K and V they read
  int64_t prefills = 0;        ///< entries of more than one token
  int64_t prefill_tokens = 0;
  int64_t prefill_context = 0;  ///< sum of their contexts
  int64_t prefill_pairs =
      0;                   ///< (token, token that it attends to), summed: causal attention's work
  int64_t generating = 0;  ///< entries that end with a new token

  int64_t sequences() const { return decodes + prefills; }
  int64_t tokens() const { return decodes + prefill_tokens; }
  int64_t context() const { return decode_context + prefill_context; }

  void AddPart(int64_t first_position, int64_t count, bool generates) {
    if (count == 1) {
      ++decodes;
      decode_context += first_position + 1;
    } else {
      ++prefills;
      prefill_tokens += count;
      prefill_context += first_position + count;
      prefill_pairs += count * first_position + count * (count + 1) / 2;
    }
    generating += generates ? 1 : 0;
  }
};

/// What a step runs.
struct StepBatch {
  /// The first `in_step` running sequences, oldest first, that all decode one token, step after
  /// step alike. `entries` begins with theirs, or leaves them out where the executor needs none.
  int64_t in_step = 0;
  bool lists_in_step = true;
  std::vector<StepEntry> entries;
  StepLoad load;  ///< of all, listed or not

  bool empty() const { return load.sequences() == 0; }
  int64_t tokens() const { return load.tokens(); }
  /// Index of the first entry behind those in step.
  size_t first_single() const { return lists_in_step ? static_cast<size_t>(in_step) : 0; }

  void clear() {
    in_step = 0;
    entries.clear();
    load = {};
  }
  void Add(const StepEntry& entry) {
    entries.push_back(entry);
    load.AddPart(entry.first_position, entry.count, entry.generates);
  }
};

}  // namespace kvbench
