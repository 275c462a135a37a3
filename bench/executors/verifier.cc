#include "bench/executors/verifier.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/reference/attention.h"

namespace kvbench {

namespace {

// Enough to see a fault, few enough that a run of seconds is not held up for longer than it takes.
constexpr int64_t kEnough = 96;
constexpr int64_t kEnoughLong = 48;

/// Well-mixed bits of a counter (the finaliser of splitmix64).
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

void AttentionVerifier::BeginStep(const std::vector<AttentionSequence>& sequences) {
  rows_.clear();
  const int64_t step = steps_++;
  // Steps 0, 1, 2, 4, 8, ... and every 32nd: short runs are sampled densely, long ones to their
  // end.
  const bool sampled = std::has_single_bit(static_cast<uint64_t>(step)) || step % 32 == 0;
  if (sampled && (checked_ < kEnough || std::has_single_bit(static_cast<uint64_t>(step)))) {
    Choose(sequences, Mix(draws_++) % sequences.size());
  }
  if (checked_long_ < kEnoughLong && step % 4 == 3) {
    const auto longest =
        std::max_element(sequences.begin(), sequences.end(),
                         [](const AttentionSequence& a, const AttentionSequence& b) {
                           return a.context < b.context;
                         });
    if (longest->context >= kLongContext) {
      Choose(sequences, static_cast<size_t>(longest - sequences.begin()));
    }
  }
}

void AttentionVerifier::Choose(const std::vector<AttentionSequence>& sequences, size_t sequence) {
  const auto queries = static_cast<uint64_t>(sequences[sequence].num_queries);
  rows_.push_back({static_cast<int64_t>(sequence), static_cast<int32_t>(Mix(draws_++) % queries)});
}

void AttentionVerifier::Check(const AttentionCall& call) {
  expected_.resize(static_cast<size_t>(call.head_dim));
  for (const Row& row : rows_) {
    const AttentionSequence& sequence = call.sequences[static_cast<size_t>(row.sequence)];
    for (int32_t head = 0; head < call.num_heads; ++head) {
      ReferenceAttentionRow(call, row.sequence, row.query, head, expected_.data());
      const float* actual =
          call.out +
          ((sequence.first_query + row.query) * call.num_heads + head) * int64_t{call.head_dim};
      double difference = 0;
      double largest = 0;
      for (size_t i = 0; i < expected_.size(); ++i) {
        const double delta = std::abs(double{actual[i]} - expected_[i]);
        difference = std::isnan(delta) ? std::numeric_limits<double>::infinity()
                                       : std::max(difference, delta);
        largest = std::max(largest, std::abs(expected_[i]));
      }
      const double error = largest > 0 ? difference / largest : difference;
      max_relative_error_ = std::max(max_relative_error_, error);
    }
    ++checked_;
    const int64_t keys = sequence.context - sequence.num_queries + row.query + 1;
    checked_long_ += keys >= kLongContext ? 1 : 0;
  }
}

}  // namespace kvbench
