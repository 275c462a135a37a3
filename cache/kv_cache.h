#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/operation.h"
#include "cache/usage.h"

namespace kvbench {

/// What a cache is told when a sequence asks for slots.
struct Admission {
  SequenceId sequence = 0;
  int64_t tokens = 0;        ///< to store now: what the coming step writes or has written
  int64_t estimate = 0;      ///< output tokens expected; a design's reservation rule starts from it
  int64_t final_length = 0;  ///< P + O: tokens the sequence holds when it ends
  int64_t known = 0;  ///< tokens it has: the prompt, and after a preemption what was generated
  std::span<const int64_t> prefix_ids = {};  ///< for designs that reuse prefixes
};

/// The cache's answer. A refused call changes nothing.
struct AdmitResult {
  enum class Kind { kFits, kWait, kNeverFits };
  Kind kind = Kind::kFits;
  int64_t cached_tokens = 0;  ///< leading tokens whose KV is already there
  std::string reason;  ///< when it never fits: says nothing of this sequence alone, so that equal
                       ///< ones add up

  static AdmitResult Fits() { return {}; }
  static AdmitResult Wait() { return {Kind::kWait, 0, {}}; }
  static AdmitResult NeverFits(std::string why) { return {Kind::kNeverFits, 0, std::move(why)}; }
};

/// Where the tokens of a sequence lie in the pool. Paged: token t is in slot
/// blocks[t / block_size] * block_size + t % block_size. Contiguous (no blocks): first_slot + t,
/// inside a chunk of chunk_slots slots.
struct SlotView {
  std::span<const int32_t> blocks;  // [ceil(tokens / block_size)]
  int32_t block_size = 0;
  int64_t first_slot = 0;
  int64_t chunk_slots = 0;

  int64_t slot(int64_t token) const {
    if (blocks.empty()) {
      return first_slot + token;
    }
    return int64_t{blocks[static_cast<size_t>(token / block_size)]} * block_size +
           token % block_size;
  }
};

/// A way to give slots to sequences: bookkeeping only, no bytes. Every design implements this and
/// nothing else, so that measured and modelled runs count with the same code.
///
/// A design may act: Admit and Extend then append operations to the step that is being put
/// together, and slots() says where the tokens lie once these are done.
class KvCache {
 public:
  virtual ~KvCache() = default;

  /// Takes slots for a new sequence. Precondition: the sequence holds none; 1 <= tokens <=
  /// final_length.
  virtual AdmitResult Admit(const Admission& admission) = 0;

  /// Makes room for n more tokens of a sequence, or says no and changes nothing (the scheduler
  /// preempts then).
  virtual bool Extend(SequenceId sequence, int64_t n) = 0;

  /// Whether one more token of every sequence finds room. False is certain, whoever is extended
  /// first; true is certain where EqualSteps(1) is 1, and otherwise Extend says.
  virtual bool HasRoom() const = 0;

  /// How many of the next steps are alike: each gives every sequence one more token where it is,
  /// without an operation. `limit` at most, and `limit` without sequences. At most O(sequences).
  virtual int64_t EqualSteps(int64_t limit) const = 0;

  /// Makes room for n more tokens of every sequence, one a step, and says where the slots were
  /// after each step. The same as extending them one by one, apart from which block is whose.
  /// Precondition: n <= EqualSteps(n), n <= kMaxEqualSteps.
  virtual UsageSeries ExtendAll(int64_t n) = 0;

  /// Gives all slots of a sequence back, and takes its operations off the step.
  virtual void Release(SequenceId sequence) = 0;

  /// What the executor has to do before the step's kernels, in this order.
  const std::vector<Operation>& operations() const { return operations_; }

  /// The step has run, its operations are done: the next one begins without any. Need not be called
  /// where there are none.
  virtual void FinishOperations() { operations_.clear(); }

  /// Whether the design ever appends an operation.
  virtual bool acts() const { return false; }

  /// Where all slots are. O(1).
  virtual Usage usage() const = 0;

  /// Slots of an admitted sequence; valid until the next call that changes that sequence.
  virtual SlotView slots(SequenceId sequence) const = 0;

  /// All slots of the cache, whole blocks.
  virtual int64_t capacity_slots() const = 0;

  /// False: tokens are not kept from one step to the next, and every step computes all of them
  /// again.
  virtual bool keeps_tokens() const { return true; }

  /// Tokens in a block, 0 for contiguous designs.
  virtual int32_t block_size() const { return 0; }

  virtual std::string_view design() const = 0;

 protected:
  std::vector<Operation> operations_;
};

}  // namespace kvbench
