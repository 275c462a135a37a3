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
  if (tokens_.size() == kMost) {
    tokens_.erase(tokens_.begin());
  }
  Token& token = tokens_.emplace_back();
  token.sequence = entry.sequence;
  token.request = entry.request;
  token.position = position;
  token.layer = Draw(num_layers_);
  read(token.layer, sequence, position, token.bytes);
}

void KeptTokens::Forget(const StepBatch& batch) {
  for (size_t i = batch.first_single(); i < batch.entries.size(); ++i) {
    const StepEntry& entry = batch.entries[i];
    if (entry.first_position == 0) {
      std::erase_if(tokens_, [&](const Token& t) { return t.sequence == entry.sequence; });
    }
  }
}

bool KeptTokens::Check(const StepBatch& batch, std::span<const AttentionSequence> sequences,
                       const Read& read) {
  bool same = true;
  for (const Token& token : tokens_) {
    const auto entry =
        std::find_if(batch.entries.begin(), batch.entries.end(), [&](const StepEntry& e) {
          return e.sequence == token.sequence && e.request == token.request;
        });
    if (entry == batch.entries.end()) {
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
