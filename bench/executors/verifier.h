#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/attention.h"

namespace kvbench {

/// Chooses steps ever further apart: 1,000 steps give about 40, a million 80, to the end of a run,
/// so that what is done in them holds up a run of seconds for less time than it takes.
class SampledSteps {
 public:
  /// Whether the next step is one of them.
  bool Next() {
    if (steps_++ < next_) {
      return false;
    }
    next_ = std::max(steps_, static_cast<int64_t>(static_cast<double>(steps_) * kSpread));
    return true;
  }

 private:
  static constexpr double kSpread = 1.2;

  int64_t steps_ = 0;
  int64_t next_ = 0;
};

/// Checks sampled attention outputs of a measured run against the reference kernel. One output is
/// the row of one token in one layer, all its heads; its error is the largest max |a - b| / max |b|
/// of its heads.
class AttentionVerifier {
 public:
  static constexpr int64_t kLongContext = 256;  ///< keys; outputs with as many are counted apart

  /// A query of one of the step's sequences.
  struct Row {
    int64_t sequence = 0;
    int32_t query = 0;
  };

  /// @param tolerance of an output's error
  explicit AttentionVerifier(double tolerance) : tolerance_(tolerance) {}

  /// Chooses the row that this step's layers are checked at, if the step is sampled: often at
  /// first, then rarer.
  void BeginStep(const std::vector<AttentionSequence>& sequences);

  /// Whether the current step has rows to check.
  bool wants_step() const { return !rows_.empty(); }

  /// Compares the chosen rows of one layer's outputs. call.out has been computed.
  void Check(const AttentionCall& call);
  /// The same for those who have them elsewhere: the chosen rows, and the check of one of them in
  /// one layer. @param row of `call`, which may hold that row alone, as another sequence and query
  const std::vector<Row>& rows() const { return rows_; }
  void CheckRow(const AttentionCall& call, const Row& row);

  /// K and V of a token have changed since they were computed.
  void Fail() { max_relative_error_ = std::numeric_limits<double>::infinity(); }

  double tolerance() const { return tolerance_; }
  int64_t checked() const { return checked_; }
  int64_t checked_long() const { return checked_long_; }
  double max_relative_error() const { return max_relative_error_; }
  bool passed() const { return checked_ > 0 && max_relative_error_ <= tolerance_; }

 private:
  void Choose(const std::vector<AttentionSequence>& sequences, size_t sequence);

  double tolerance_;
  SampledSteps sampled_;
  int64_t samples_ = 0;
  uint64_t draws_ = 0;
  std::vector<Row> rows_;
  std::vector<double> expected_;  // [head_dim]
  int64_t checked_ = 0;
  int64_t checked_long_ = 0;
  double max_relative_error_ = 0;
};

}  // namespace kvbench
