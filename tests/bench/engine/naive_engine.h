#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/engine/limits.h"
#include "cache/usage.h"
#include "tests/baselines/naive_buddy.h"
#include "workloads/traces/request.h"

namespace kvbench {

/// The slow, obvious serving loop: continuous batching over one of the designs, written from
/// the rules alone with lists that are searched and sums that are formed afresh in every step. Time
/// is counted in steps of equal length.
class NaiveEngine {
 public:
  struct Step {
    int64_t running = 0;
    int64_t waiting = 0;
    int64_t tokens = 0;
    Usage usage;
    bool operator==(const Step&) const = default;
  };

  NaiveEngine(const Trace& trace, const EngineLimits& limits, const std::string& design,
              int64_t slots, int64_t block_size, int64_t step_ns, bool concat = false)
      : trace_(trace),
        limits_(limits),
        design_(design),
        grows_(design == "contiguous-growing"),
        concat_(concat),
        block_size_(design == "paged" ? block_size : 16),
        blocks_(slots / block_size_),
        step_ns_(step_ns),
        buddy_(design == "paged" ? 0 : blocks_, PowerOfTwo((limits.max_model_len + 15) / 16)) {}

  void Run() {
    int64_t now = 0;
    size_t next = 0;
    while (next < trace_.requests.size() || !queue_.empty() || !running_.empty()) {
      if (queue_.empty() && running_.empty()) {
        now = std::max(now, trace_.requests[next].arrival_ns);
      }
      while (next < trace_.requests.size() && trace_.requests[next].arrival_ns <= now &&
             (limits_.max_concurrency == 0 ||
              static_cast<int64_t>(queue_.size() + running_.size()) < limits_.max_concurrency)) {
        queue_.push_back({static_cast<int64_t>(next++)});
      }
      if (OneStep()) {
        now += step_ns_;
      }
    }
  }

  std::vector<Step> steps;
  int64_t preemptions = 0;
  int64_t recomputed = 0;
  int64_t rejected = 0;
  int64_t moves = 0;
  int64_t moved_tokens = 0;

 private:
  struct Sequence {
    int64_t request = 0;
    int64_t generated = 0;
    int64_t done = 0;    // tokens computed
    int64_t held = 0;    // tokens that have a slot
    int64_t before = 0;  // tokens computed before it was preempted
    int64_t part = 0;    // tokens of this step
    int64_t offset = 0;  // contiguous
    int64_t chunk = 0;
    int64_t wanted = 0;
  };

  static int64_t PowerOfTwo(int64_t n) {
    int64_t power = 1;
    while (power < n) {
      power *= 2;
    }
    return power;
  }
  const Request& Of(const Sequence& s) const {
    return trace_.requests[static_cast<size_t>(s.request)];
  }
  int64_t Blocks(int64_t tokens) const { return (tokens + block_size_ - 1) / block_size_; }
  int64_t Wanted(const Sequence& s) const {
    if (grows_) {
      return Of(s).total_tokens();
    }
    const int64_t estimate = design_ == "contiguous-max"    ? limits_.max_model_len
                             : design_ == "contiguous-pow2" ? PowerOfTwo(Of(s).output_tokens)
                                                            : Of(s).output_tokens;
    return std::min(Of(s).prompt_tokens + estimate, limits_.max_model_len);
  }
  int64_t FreeBlocks() const {
    int64_t free = blocks_;
    for (const Sequence& s : running_) {
      free -= design_ == "paged" ? Blocks(s.held) : s.chunk;
    }
    return free;
  }
  int64_t Known(const Sequence& s) const { return Of(s).prompt_tokens + s.generated; }

  bool PastTheLimits(const Sequence& s) const {
    const int64_t length = Of(s).total_tokens();
    return length > limits_.max_model_len ||
           (!limits_.chunked_prefill && length > limits_.max_num_batched_tokens);
  }
  bool NeverFits(const Sequence& s) const {
    const int64_t length = Of(s).total_tokens();
    if (design_ == "paged") {
      return Blocks(length) + blocks_ / 100 > blocks_;
    }
    const int64_t chunk = PowerOfTwo((Wanted(s) + 15) / 16);
    NaiveBuddy empty(blocks_, PowerOfTwo((limits_.max_model_len + 15) / 16));
    return empty.Allocate(chunk) < 0 || (grows_ && concat_ && empty.Allocate(chunk) < 0);
  }

  bool OneStep() {
    int64_t budget = limits_.max_num_batched_tokens;
    for (Sequence& s : running_) {
      s.part = 0;
    }
    for (size_t i = 0; i < running_.size() && budget > 0; ++i) {
      const int64_t part = std::min(Known(running_[i]) - running_[i].done, budget);
      // The newest token of a decode has had its slot since the step that generated it.
      const int64_t end = running_[i].done + part;
      const int64_t slots = end + (end == Known(running_[i]) ? 1 : 0) - running_[i].held;
      bool gone = false;
      while (!FindsRoom(running_[i], slots)) {
        Sequence victim = running_.back();
        running_.pop_back();
        if (design_ != "paged") {
          buddy_.Free(victim.offset, victim.chunk);
        }
        victim.before = std::max(victim.before, victim.done);
        victim.done = victim.held = victim.part = 0;
        queue_.insert(queue_.begin(), victim);
        ++preemptions;
        if (i == running_.size()) {
          gone = true;
          break;
        }
      }
      if (gone) {
        break;
      }
      Take(running_[i], part, slots, budget);
    }
    while (!queue_.empty()) {
      Sequence s = queue_.front();
      if (PastTheLimits(s)) {
        queue_.erase(queue_.begin());
        ++rejected;
        continue;
      }
      if (static_cast<int64_t>(running_.size()) == limits_.max_num_seqs || budget == 0 ||
          (!limits_.chunked_prefill && Known(s) > budget)) {
        break;
      }
      if (NeverFits(s)) {  // the cache is asked last
        queue_.erase(queue_.begin());
        ++rejected;
        continue;
      }
      const int64_t part = std::min(Known(s), budget);
      const int64_t slots = part + (part == Known(s) ? 1 : 0);
      if (design_ == "paged") {
        if (FreeBlocks() - Blocks(slots) < blocks_ / 100) {
          break;
        }
      } else {
        s.wanted = !grows_ ? Wanted(s) : concat_ ? slots : Known(s) + 1;
        s.chunk = PowerOfTwo((s.wanted + 15) / 16);
        if (grows_ && concat_ && 2 * (blocks_ - FreeBlocks() + s.chunk) > blocks_) {
          break;
        }
        s.offset = buddy_.Allocate(s.chunk);
        if (s.offset < 0) {
          break;
        }
      }
      queue_.erase(queue_.begin());
      running_.push_back(s);
      Take(running_.back(), part, slots, budget);
    }
    if (budget == limits_.max_num_batched_tokens) {
      return false;
    }
    Step step;
    for (Sequence& s : running_) {
      s.done += s.part;
      if (s.part > 0 && s.done == Known(s)) {
        ++s.generated;
      }
    }
    step.running = static_cast<int64_t>(running_.size());
    step.waiting = static_cast<int64_t>(queue_.size());
    step.tokens = limits_.max_num_batched_tokens - budget;
    step.usage.free = blocks_ * block_size_;
    for (const Sequence& s : running_) {
      const int64_t all = (design_ == "paged" ? Blocks(s.held) : s.chunk) * block_size_;
      step.usage.free -= all;
      step.usage.live += s.held;
      if (design_ == "paged") {
        step.usage.rounding += all - s.held;
      } else if (grows_) {
        const int64_t rest = std::max(s.wanted - s.held, int64_t{0});
        step.usage.reserved += rest;
        step.usage.rounding += all - s.held - rest;
      } else {
        step.usage.reserved += Of(s).total_tokens() - s.held;
        step.usage.overestimate += Wanted(s) - Of(s).total_tokens();
        step.usage.rounding += all - Wanted(s);
      }
    }
    for (const auto& [offset, chunk] : old_) {
      step.usage.free -= chunk * 16;
      step.usage.rounding += chunk * 16;
      buddy_.Free(offset, chunk);
    }
    old_.clear();
    steps.push_back(step);
    for (size_t i = 0; i < running_.size();) {
      if (running_[i].generated == Of(running_[i]).output_tokens) {
        if (design_ != "paged") {
          buddy_.Free(running_[i].offset, running_[i].chunk);
        }
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    return true;
  }

  /// A growing sequence that is full has moved when this is true; its old chunk is free after the
  /// step.
  bool FindsRoom(Sequence& s, int64_t slots) {
    if (design_ == "paged") {
      return Blocks(s.held + slots) - Blocks(s.held) <= FreeBlocks();
    }
    if (!grows_ || (!concat_ && s.held + slots <= s.chunk * 16)) {
      return true;
    }
    const int64_t chunk = PowerOfTwo((s.held + slots + 15) / 16);
    const int64_t offset = buddy_.Allocate(chunk);
    if (offset < 0) {
      return false;
    }
    old_.emplace_back(s.offset, s.chunk);
    ++moves;
    moved_tokens += s.held;
    s.offset = offset;
    s.chunk = chunk;
    return true;
  }

  void Take(Sequence& s, int64_t part, int64_t slots, int64_t& budget) {
    recomputed += std::clamp(s.before - s.done, int64_t{0}, part);
    s.part = part;
    s.held += slots;
    budget -= part;
  }

  const Trace& trace_;
  EngineLimits limits_;
  std::string design_;
  bool grows_;
  bool concat_;
  int64_t block_size_;
  int64_t blocks_;
  int64_t step_ns_;
  NaiveBuddy buddy_;
  std::vector<std::pair<int64_t, int64_t>> old_;  // chunks that moves of this step have left
  std::vector<Sequence> queue_;
  std::vector<Sequence> running_;
};

}  // namespace kvbench
