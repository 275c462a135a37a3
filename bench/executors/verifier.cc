#include "bench/executors/verifier.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/mix_bits.h"
#include "kernels/reference/attention.h"

namespace kvbench {

void AttentionVerifier::BeginStep(const std::vector<AttentionSequence>& sequences) {
  rows_.clear();
  if (!sampled_.Next()) {
    return;
  }
  // The longest context and any sequence take turns.
  if (samples_++ % 2 == 0) {
    const auto longest =
        std::max_element(sequences.begin(), sequences.end(),
                         [](const AttentionSequence& a, const AttentionSequence& b) {
                           return a.context < b.context;
                         });
    Choose(sequences, static_cast<size_t>(longest - sequences.begin()));
  } else {
    Choose(sequences, MixBits(draws_++) % sequences.size());
  }
}

void AttentionVerifier::Choose(const std::vector<AttentionSequence>& sequences, size_t sequence) {
  const auto queries = static_cast<uint64_t>(sequences[sequence].num_queries);
  rows_.push_back(
      {static_cast<int64_t>(sequence), static_cast<int32_t>(MixBits(draws_++) % queries)});
}

void AttentionVerifier::Check(const AttentionCall& call) {
  for (const Row& row : rows_) {
    CheckRow(call, row);
  }
}

void AttentionVerifier::CheckRow(const AttentionCall& call, const Row& row) {
  expected_.resize(static_cast<size_t>(call.head_dim));
  const AttentionSequence& sequence = call.sequences[static_cast<size_t>(row.sequence)];
  for (int32_t head = 0; head < call.num_heads; ++head) {
    ReferenceAttentionRow(call, row.sequence, row.query, head, expected_.data());
    const float* actual = call.out + ((sequence.first_query + row.query) * call.num_heads + head) *
                                         int64_t{call.head_dim};
    double difference = 0;
    double largest = 0;
    for (size_t i = 0; i < expected_.size(); ++i) {
      const double delta = std::abs(double{actual[i]} - expected_[i]);
      difference =
          std::isnan(delta) ? std::numeric_limits<double>::infinity() : std::max(difference, delta);
      largest = std::max(largest, std::abs(expected_[i]));
    }
    const double error = largest > 0 ? difference / largest : difference;
    max_relative_error_ = std::max(max_relative_error_, error);
  }
  ++checked_;
  const int64_t keys = sequence.context - sequence.num_queries + row.query + 1;
  checked_long_ += keys >= kLongContext ? 1 : 0;
}

}  // namespace kvbench
