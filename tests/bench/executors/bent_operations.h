#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cache/kv_cache.h"

namespace kvbench {

/// A cache whose operations can be bent on their way to the executor: it must find out.
class BentOperations final : public KvCache {
 public:
  using Bend = std::function<void(std::vector<Operation>&)>;

  BentOperations(std::unique_ptr<KvCache> inner, Bend bend)
      : inner_(std::move(inner)), bend_(std::move(bend)) {}

  AdmitResult Admit(const Admission& admission) override { return inner_->Admit(admission); }
  bool Extend(SequenceId sequence, int64_t n) override {
    const bool room = inner_->Extend(sequence, n);
    PassOn();
    return room;
  }
  bool HasRoom() const override { return inner_->HasRoom(); }
  int64_t EqualSteps(int64_t limit) const override { return inner_->EqualSteps(limit); }
  UsageSeries ExtendAll(int64_t n) override { return inner_->ExtendAll(n); }
  void Release(SequenceId sequence) override {
    inner_->Release(sequence);
    PassOn();
  }
  void FinishOperations() override {
    operations_.clear();
    inner_->FinishOperations();
  }
  bool acts() const override { return true; }
  Usage usage() const override { return inner_->usage(); }
  SlotView slots(SequenceId sequence) const override { return inner_->slots(sequence); }
  int64_t capacity_slots() const override { return inner_->capacity_slots(); }
  int32_t block_size() const override { return inner_->block_size(); }
  std::string_view design() const override { return inner_->design(); }

 private:
  void PassOn() {
    operations_ = inner_->operations();
    bend_(operations_);
    if (operations_.empty()) {
      inner_->FinishOperations();  // the engine will not ask for it
    }
  }

  std::unique_ptr<KvCache> inner_;
  Bend bend_;
};

/// What a defect in the copies might do, and nothing.
struct BentCase {
  const char* what;
  BentOperations::Bend bend;
  bool passes;
};
inline std::vector<BentCase> BentCases() {
  return {{"as they are", [](std::vector<Operation>&) {}, true},
          {"none is done", [](std::vector<Operation>& all) { all.clear(); }, false},
          {"half of the tokens",
           [](std::vector<Operation>& all) {
             for (Operation& operation : all) {
               operation.tokens /= 2;
             }
           },
           false},
          {"from another chunk",
           [](std::vector<Operation>& all) {
             for (Operation& operation : all) {
               operation.from.first_slot = operation.from.first_slot == 0 ? 256 : 0;
             }
           },
           false}};
}

}  // namespace kvbench
