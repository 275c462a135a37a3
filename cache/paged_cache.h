#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cache/block_pool.h"
#include "cache/kv_cache.h"

namespace kvbench {

/// The paged block cache of vLLM (SOSP 2023): a sequence holds whole blocks anywhere in the pool,
/// as many as its tokens need now, and a block table says which. Nothing is reserved, so a running
/// sequence may find no block when it grows; admission therefore leaves a watermark of 1 % of the
/// blocks free.
class PagedCache final : public KvCache {
 public:
  /// Share of the blocks, rounded down, that admission leaves free for those who run.
  static constexpr double kWatermark = 0.01;

  /// `slots` is cut down to whole blocks. Preconditions: slots >= 0, block_size >= 1, at most 2^31
  /// - 1 blocks.
  PagedCache(int64_t slots, int32_t block_size);

  AdmitResult Admit(const Admission& admission) override;
  bool Extend(SequenceId sequence, int64_t n) override;
  bool HasRoom() const override {
    return static_cast<size_t>(pool_.num_free()) >= buckets_[full_].size();
  }
  int64_t EqualSteps(int64_t limit) const override;
  UsageSeries ExtendAll(int64_t n) override;
  void Release(SequenceId sequence) override;
  Usage usage() const override;
  SlotView slots(SequenceId sequence) const override;

  int64_t capacity_slots() const override { return int64_t{pool_.num_blocks()} * block_size_; }
  int64_t watermark_slots() const { return int64_t{watermark_blocks_} * block_size_; }
  int32_t block_size() const override { return block_size_; }
  std::string_view design() const override { return "paged"; }

 private:
  struct Sequence {
    int64_t before_growth = 0;  // its tokens less growth_
    int32_t bucket = 0;
    int32_t place = 0;            // in its bucket
    std::vector<int32_t> blocks;  // the block table, empty: holds nothing; keeps its memory for the
                                  // next sequence with this id
  };

  int64_t BlocksFor(int64_t tokens) const { return (tokens + block_size_ - 1) / block_size_; }
  int64_t TokensOf(const Sequence& sequence) const { return sequence.before_growth + growth_; }
  size_t Before(size_t bucket) const;
  void Enter(SequenceId id, Sequence& s, int64_t room);
  void Leave(const Sequence& s);
  void TakeBlocks(Sequence& sequence, int64_t blocks);

  int32_t block_size_;
  BlockPool pool_;
  int32_t watermark_blocks_;
  int64_t live_ = 0;
  int64_t held_ = 0;                 // sequences
  std::vector<Sequence> sequences_;  // by SequenceId
  // Tokens that every sequence has gained by ExtendAll.
  int64_t growth_ = 0;
  // Sequences by how many more tokens their last block takes: none in bucket full_, one in the
  // bucket before it, and so on around. A token for everyone moves full_ by one and leaves all
  // where they are, and those who need a block are found without looking at the others.
  std::vector<std::vector<SequenceId>> buckets_;  // [block size]
  size_t full_ = 0;
};

}  // namespace kvbench
