#pragma once

#include <cstdint>

namespace kvbench {

/// A sequence's number within a run: small and dense, so that a cache may index by it.
using SequenceId = int32_t;

/// Consecutive slots of a pool that belong together: a chunk of a contiguous design, or one block
/// of a paged one.
struct SlotRange {
  int64_t first_slot = 0;
  int64_t slots = 0;
};

/// What a cache asks the executor to do to bytes before a step's kernels: the K and V of the first
/// `tokens` slots of `from`, over all layers, are copied to the first slots of `to`. A step's
/// operations are done one after the other: one may read what the one before has written.
struct Operation {
  enum class Kind {
    kCopy,  ///< both places hold the tokens from then on
    kMove,  ///< `from` is given up, at the latest when the step ends
  };
  Kind kind = Kind::kMove;
  SequenceId sequence = 0;
  SlotRange from = {};
  SlotRange to = {};
  int64_t tokens = 0;
};

}  // namespace kvbench
