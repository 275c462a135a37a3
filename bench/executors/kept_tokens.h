#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bench/engine/step_batch.h"
#include "kernels/attention.h"

namespace kvbench {

/// Sampled tokens of a measured run, with their K and V in one layer as they once were. As long as
/// their sequence runs these must stay the same bytes, wherever its design moves them.
class KeptTokens {
 public:
  /// Reads a token's K and V of a layer, all heads and scales.
  using Read = std::function<void(int64_t layer, const AttentionSequence& sequence,
                                  int32_t position, std::vector<uint8_t>& bytes)>;

  explicit KeptTokens(int64_t num_layers) : num_layers_(num_layers) {}

  /// A number from 0 to n - 1. Precondition: n > 0.
  int64_t Draw(int64_t n);

  /// Remembers a token that lies at `sequence` now. The layer is drawn.
  void Keep(const StepEntry& entry, int32_t position, const AttentionSequence& sequence,
            const Read& read);

  /// Forgets those whose sequence begins anew in the batch: what is computed again may have other
  /// bits. To be called in every step.
  void Forget(const StepBatch& batch);

  /// Compares those whose sequence is in the batch; `sequences` are its entries' places. False: a
  /// token has other bytes than it had.
  bool Check(const StepBatch& batch, std::span<const AttentionSequence> sequences,
             const Read& read);

  int64_t checked() const { return checked_; }

 private:
  struct Token {
    SequenceId sequence = 0;
    int64_t request = 0;
    int32_t position = 0;
    int64_t layer = 0;
    std::vector<uint8_t> bytes;
  };
  static constexpr size_t kMost = 16;  // the oldest makes way

  int64_t num_layers_;
  uint64_t draws_ = 0;
  std::vector<Token> tokens_;
  std::vector<uint8_t> now_;
  int64_t checked_ = 0;
};

}  // namespace kvbench
