#include "bench/micro/aged_blocks.h"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "cache/paged_cache.h"

namespace kvbench::micro {

namespace {

/// A paged cache under random requests.
class Churn {
 public:
  Churn(int32_t num_blocks, int32_t block_size, int32_t context)
      : context_(context), cache_(int64_t{num_blocks} * block_size, block_size) {}

  /// Requests come and go until so many tokens have been given slots.
  void Run(int64_t tokens) {
    while (tokens > 0) {
      const int64_t length = Between(1, 2 * int64_t{context_});
      const int64_t prompt = Between(1, length);
      if (!Admit(prompt, length)) {
        ReleaseAny();
        continue;
      }
      tokens -= prompt;
      // The others go on meanwhile.
      for (int i = 0; i < 16 && !running_.empty(); ++i) {
        if (!cache_.Extend(Any(), 1)) {
          ReleaseAny();
        }
      }
    }
  }

  /// A sequence with its first tokens; others leave until it fits.
  SequenceId Start(int64_t tokens, int64_t length) {
    while (!Admit(tokens, length)) {
      if (running_.empty()) {
        throw std::logic_error("the pool does not hold the sequences and the watermark");
      }
      ReleaseAny();
    }
    const SequenceId id = running_.back();
    running_.pop_back();  // stays: nobody releases it
    return id;
  }

  void Extend(SequenceId id) {
    while (!cache_.Extend(id, 1)) {
      if (running_.empty()) {
        throw std::logic_error("the pool does not hold the sequences");
      }
      ReleaseAny();
    }
  }

  const PagedCache& cache() const { return cache_; }

 private:
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  SequenceId Any() { return running_[random_() % running_.size()]; }

  bool Admit(int64_t tokens, int64_t length) {
    const SequenceId id = free_ids_.empty() ? next_id_ : free_ids_.back();
    const AdmitResult result = cache_.Admit(
        {.sequence = id, .tokens = tokens, .estimate = length - tokens, .final_length = length});
    if (result.kind != AdmitResult::Kind::kFits) {
      return false;
    }
    free_ids_.empty() ? void(++next_id_) : free_ids_.pop_back();
    running_.push_back(id);
    return true;
  }

  void ReleaseAny() {
    if (running_.empty()) {
      return;
    }
    SequenceId& id = running_[random_() % running_.size()];
    cache_.Release(id);
    free_ids_.push_back(id);
    id = running_.back();
    running_.pop_back();
  }

  int32_t context_;
  PagedCache cache_;
  std::mt19937_64 random_{1};
  std::vector<SequenceId> running_;
  std::vector<SequenceId> free_ids_;
  SequenceId next_id_ = 0;
};

}  // namespace

std::vector<int32_t> AgedBlocks(int32_t num_blocks, int32_t block_size, int32_t context,
                                int32_t sequences) {
  Churn churn(num_blocks, block_size, context);
  const int64_t slots = int64_t{num_blocks} * block_size;
  churn.Run(4 * slots);
  const int64_t prompt = std::max(1, context / 4 * 3);
  std::vector<SequenceId> ids;
  for (int32_t i = 0; i < sequences; ++i) {
    ids.push_back(churn.Start(prompt, context));
  }
  for (int64_t length = prompt; length < context; ++length) {
    for (const SequenceId id : ids) {
      churn.Extend(id);
    }
  }
  std::vector<int32_t> blocks;
  for (const SequenceId id : ids) {
    const SlotView view = churn.cache().slots(id);
    blocks.insert(blocks.end(), view.blocks.begin(), view.blocks.end());
  }
  return blocks;
}

}  // namespace kvbench::micro
