#include "bench/executors/kept_tokens.h"

#include <algorithm>
#include <cstddef>

#include "kernels/mix_bits.h"

namespace kvbench {

int64_t KeptTokens::Draw(int64_t n) {
  return static_cast<int64_t>(MixBits(draws_++) % static_cast<uint64_t>(n));
}

void KeptTokens::Keep(const StepEntry& entry, int32_t position, const AttentionSequence& sequence,
                      const Read& read) {
  if (tokens_.size() < kMost) {
    next_ = tokens_.size();
    tokens_.emplace_back();
  }
  Token& token = tokens_[next_];
  next_ = (next_ + 1) % kMost;
  token.sequence = entry.sequence;
  token.request = entry.request;
  token.position = position;
  token.layer = Draw(num_layers_);
  read(token.layer, sequence, position, token.bytes);
}

bool KeptTokens::Check(const StepBatch& batch, std::span<const AttentionSequence> sequences,
                       const Read& read) {
  bool same = true;
  for (Token& token : tokens_) {
    const auto entry =
        std::find_if(batch.entries.begin(), batch.entries.end(), [&](const StepEntry& e) {
          return e.sequence == token.sequence && e.request == token.request;
        });
    if (token.bytes.empty() || entry == batch.entries.end()) {
      continue;
    }
    if (entry->first_position <= token.position) {
      token.bytes.clear();  // computed again: other bits, maybe
      continue;
    }
    read(token.layer, sequences[static_cast<size_t>(entry - batch.entries.begin())], token.position,
         now_);
    same = same && now_ == token.bytes;
    ++checked_;
  }
  return same;
}

}  // namespace kvbench
