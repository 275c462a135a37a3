#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/micro/workbench.h"
#include "kernels/attention.h"
#include "kernels/cpu/buffer.h"
#include "kernels/kv_layout.h"

namespace kvbench::micro {

/// Where the tokens of a case's sequences lie.
enum class Placement {
  kContiguousPadded,
  kContiguousUnpadded,
  kPagedIdentity,  ///< a sequence's blocks one after the other
  kPagedShuffled,  ///< blocks in random order
  kPagedAged,      ///< as a PagedCache gives them after many admits and releases
};
constexpr bool IsPaged(Placement placement) { return placement >= Placement::kPagedIdentity; }

/// "fp16", as in the names of cases.
const char* KvTypeName(KvType type);

/// One layer's KV and what a step does on it.
struct KvShape {
  Placement placement = Placement::kPagedShuffled;
  int32_t block_size = 16;  ///< paged only
  KvType kv_type = KvType::kFp16;
  int32_t num_kv_heads = 8;
  int32_t group = 1;
  int32_t head_dim = 128;
  int32_t context = 1024;
  int32_t queries = 1;  ///< newest tokens of each sequence
  int32_t batch = 16;
  std::string kernel = "auto";  ///< of the attention

  /// "paged-shuffled/block:16/fp16"
  std::string LayoutName() const;
};

/// Batches of sequences on the workbench's arenas, as many as fill its working set: taken in turn,
/// so that no cache holds what the next one reads.
class KvCase {
 public:
  /// Throws workloads' Error (kMachine) where the arenas do not hold one batch.
  KvCase(const KvShape& shape, Workbench& bench);
  ~KvCase();
  KvCase(const KvCase&) = delete;
  KvCase& operator=(const KvCase&) = delete;

  int num_batches() const { return static_cast<int>(sequences_.size()) / shape_.batch; }
  const AttentionCall& attention() const { return attention_; }  ///< of the current batch
  /// Goes on to the next batch. After the last one comes the first.
  void Next();

  /// A write of the current batch's newest tokens. With one query the position written is another
  /// one each time that all batches have had their turn, or the caches would soon hold them all.
  const KvWriteCall& write();

  /// Relative error of one output row of the batch that has run, its last, against the reference
  /// kernel: max |a - b| / max |b|; NaN if the output is.
  double OutputError() const;

  int64_t kv_bytes() const;       ///< useful bytes of a batch
  int64_t written_bytes() const;  ///< by a write of a batch
  /// Query heads x visible keys of a batch.
  double visible_keys() const;

 private:
  void PlaceContiguousSequences(int64_t count);
  void PlacePagedSequences(int64_t count, int64_t num_blocks);

  KvShape shape_;
  Workbench& bench_;
  AttentionCall attention_;
  KvWriteCall write_;
  std::vector<AttentionSequence> sequences_;  // of all batches
  std::vector<AttentionSequence> written_;    // of the current batch
  std::vector<int32_t> blocks_;
  int64_t turn_ = 0;
  bool wrote_ = false;
  Buffer q_, out_;
};

}  // namespace kvbench::micro
