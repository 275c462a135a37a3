#include "kernels/simulator/cta.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "kernels/simulator/stack_pool.h"

namespace kvbench {

namespace {

// The CTA whose thread runs on this OS thread; kernels have no argument to carry it in.
thread_local SimulatedCta* current_cta = nullptr;

constexpr uint8_t kPoison = 0xff;
constexpr uint32_t kHistoryBytes = 2;
constexpr uint32_t kCopyBytes = 16;

}  // namespace

SimulatedCta& SimulatedCta::current() { return *current_cta; }

SimulatedCta::SimulatedCta(GridRun& run, std::array<int, 3> index)
    : run_(run),
      index_(index),
      number_(index[0] + run.grid[0] * (index[1] + run.grid[1] * index[2])),
      threads_(static_cast<size_t>(run.threads)),
      runnable_((threads_.size() + kLanes - 1) / kLanes, 0),
      ended_(runnable_.size(), 0),
      open_(runnable_.size()),
      shared_(static_cast<unsigned char*>(
          ::operator new[](std::max<size_t>(run.shared_bytes, 1), std::align_val_t{128}))),
      history_((run.shared_bytes + kHistoryBytes - 1) / kHistoryBytes),
      in_flight_(history_.size(), nullptr) {
  std::memset(shared_.get(), kPoison, run.shared_bytes);
}

void SimulatedCta::Run() {
  SimulatedCta* const outer = std::exchange(current_cta, this);
  for (int i = 0; i < thread_count(); ++i) {
    runnable_[static_cast<size_t>(i / kLanes)] |= 1U << (i % kLanes);
  }
  while (done_ < thread_count() && !fault_) {
    running_ = Pick();
    if (running_ < 0) {
      fault_ = Stuck();
      break;
    }
    Thread& thread = threads_[static_cast<size_t>(running_)];
    if (!std::exchange(thread.started, true)) {
      Start(running_);
    }
    boost::context::fiber next = std::move(thread.self.fiber).resume();
    new (&thread.self.fiber) boost::context::fiber(std::move(next));
  }
  current_cta = outer;
  if (fault_) {
    run_.stacks->Forget();
    throw *fault_;
  }
}

void SimulatedCta::Start(int index) {
  Thread& thread = threads_[static_cast<size_t>(index)];
  const boost::context::stack_context stack = run_.stacks->At(static_cast<size_t>(index));
  new (&thread.self.fiber) boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
      BorrowedStack{stack}, [this, index](boost::context::fiber&& scheduler) {
        scheduler_ = std::move(scheduler);
        run_.entry(run_.params);
        OnExit(index);
        return std::move(scheduler_);
      });
}

void SimulatedCta::Suspend(State state, const Site& site) {
  Thread& thread = threads_[static_cast<size_t>(running_)];
  thread.state = state;
  thread.site = site;
  scheduler_ = std::move(scheduler_).resume();
}

int SimulatedCta::Pick() {
  const size_t warps = runnable_.size();
  const Schedule schedule = run_.options.schedule;
  // Random: the first that can run, from a random lane of a random warp on.
  const uint64_t draw = schedule == Schedule::kRandom ? run_.random() : 0;
  const size_t first = draw % warps;
  for (size_t i = 0; i < warps; ++i) {
    const size_t warp = schedule == Schedule::kReversed ? warps - 1 - i : (first + i) % warps;
    uint32_t& lanes = runnable_[warp];
    if (lanes == 0) {
      continue;
    }
    int lane = 0;
    switch (schedule) {
      case Schedule::kInOrder:
        lane = std::countr_zero(lanes);
        break;
      case Schedule::kReversed:
        lane = kLanes - 1 - std::countl_zero(lanes);
        break;
      case Schedule::kRandom: {
        const int turn = static_cast<int>(draw >> 32) & (kLanes - 1);
        lane = (std::countr_zero(std::rotr(lanes, turn)) + turn) % kLanes;
        break;
      }
    }
    lanes &= ~(1U << lane);
    return static_cast<int>(warp) * kLanes + lane;
  }
  return -1;
}

void SimulatedCta::SyncCta(const Site& site) {
  const int running = running_;
  if (at_cta_ > 0) {
    const auto other = std::find_if(threads_.begin(), threads_.end(), [](const Thread& thread) {
      return thread.state == State::kAtCta;
    });
    if (other->site != site) {
      Fail(SimulatorFault::Kind::kDivergence, site, [&] {
        return Who(static_cast<int>(other - threads_.begin())) + " waits at the CTA barrier " +
               ToString(other->site) + " while another is at this one";
      });
    }
  }
  if (done_ > 0) {
    Fail(SimulatorFault::Kind::kDivergence, site,
         [&] { return std::to_string(done_) + " threads of the CTA ended before this barrier"; });
  }
  ++at_cta_;
  if (at_cta_ < thread_count()) {
    Suspend(State::kAtCta, site);
    return;
  }
  at_cta_ = 0;
  ++cta_barriers_;
  for (int i = 0; i < thread_count(); ++i) {
    Thread& thread = threads_[static_cast<size_t>(i)];
    if (i != running && thread.state == State::kAtCta) {
      thread.state = State::kRunnable;
      runnable_[static_cast<size_t>(i / kLanes)] |= 1U << (i % kLanes);
    }
  }
}

void SimulatedCta::SyncWarp(const Site& site) {
  Exchange& exchange = Meet(~0U, nullptr, 0, site, [](Exchange&) {});
  Leave(exchange);
  ++threads_[static_cast<size_t>(running_)].warp_barriers;
}

SimulatedCta::Exchange& SimulatedCta::Arrive(uint32_t mask, const void* value, size_t bytes,
                                             const Site& site, bool& last) {
  const int warp = running_ / kLanes;
  const uint32_t self = 1U << (running_ % kLanes);
  if ((mask & self) == 0) {
    Fail(SimulatorFault::Kind::kInactiveLane, site,
         [&] { return std::string("the caller's lane is not in the mask"); });
  }
  const int lanes = std::min(kLanes, thread_count() - warp * kLanes);
  const uint32_t missing =
      mask & (ended_[static_cast<size_t>(warp)] | (lanes < kLanes ? ~0U << lanes : 0U));
  if (missing != 0) {
    Fail(SimulatorFault::Kind::kInactiveLane, site, [&] {
      return "lane " + std::to_string(std::countr_zero(missing)) + " is in the mask and has ended";
    });
  }
  auto& open = open_[static_cast<size_t>(warp)];
  for (const std::unique_ptr<Exchange>& exchange : open) {
    if ((exchange->mask & mask) == 0) {
      continue;
    }
    if (exchange->mask != mask || exchange->site != site) {
      Fail(exchange->mask != mask ? SimulatorFault::Kind::kInactiveLane
                                  : SimulatorFault::Kind::kDivergence,
           site, [&] {
             return "lanes of this warp wait at " + ToString(exchange->site) +
                    (exchange->mask != mask ? " with another mask" : "");
           });
    }
  }
  const auto found = std::find_if(open.begin(), open.end(),
                                  [&](const auto& exchange) { return exchange->mask == mask; });
  Exchange* exchange = nullptr;
  if (found != open.end()) {
    exchange = found->get();
  } else {
    if (spare_.empty()) {
      spare_.push_back(std::make_unique<Exchange>());
    }
    open.push_back(std::move(spare_.back()));
    spare_.pop_back();
    exchange = open.back().get();
    exchange->mask = mask;
    exchange->arrived = 0;
    exchange->left = 0;
    exchange->site = site;
  }
  if (bytes > 0) {
    std::memcpy(exchange->slots[static_cast<size_t>(running_ % kLanes)].data(), value, bytes);
  }
  exchange->arrived |= self;
  last = exchange->arrived == mask;
  return *exchange;
}

void SimulatedCta::Release(Exchange& exchange) {
  const int warp = running_ / kLanes;
  auto& open = open_[static_cast<size_t>(warp)];
  const auto found = std::find_if(open.begin(), open.end(),
                                  [&](const auto& other) { return other.get() == &exchange; });
  complete_.push_back(std::move(*found));
  open.erase(found);
  const uint32_t others = exchange.mask & ~(1U << (running_ % kLanes));
  runnable_[static_cast<size_t>(warp)] |= others;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((others >> lane & 1U) != 0) {
      threads_[static_cast<size_t>(warp * kLanes + lane)].state = State::kRunnable;
    }
  }
}

void SimulatedCta::Leave(Exchange& exchange) {
  exchange.left |= 1U << (running_ % kLanes);
  if (exchange.left != exchange.mask) {
    return;
  }
  const auto found = std::find_if(complete_.begin(), complete_.end(),
                                  [&](const auto& other) { return other.get() == &exchange; });
  spare_.push_back(std::move(*found));
  complete_.erase(found);
}

void SimulatedCta::OnExit(int index) {
  Thread& thread = threads_[static_cast<size_t>(index)];
  thread.state = State::kDone;
  ended_[static_cast<size_t>(index / kLanes)] |= 1U << (index % kLanes);
  ++done_;
  const auto fail = [&](SimulatorFault::Kind kind, const std::string& what) {
    if (!fault_) {
      fault_.emplace(kind, what + ": " + Who(index));
    }
  };
  if (at_cta_ > 0) {
    const auto other = std::find_if(threads_.begin(), threads_.end(), [](const Thread& waiting) {
      return waiting.state == State::kAtCta;
    });
    fail(SimulatorFault::Kind::kDivergence,
         ToString(other->site) + ": a thread ended while others wait at this CTA barrier");
  }
  for (const std::unique_ptr<Exchange>& exchange : open_[static_cast<size_t>(index / kLanes)]) {
    if ((exchange->mask >> (index % kLanes) & 1U) != 0) {
      fail(SimulatorFault::Kind::kInactiveLane,
           ToString(exchange->site) + ": a lane of the mask ended while others wait here");
    }
  }
}

SimulatorFault SimulatedCta::Stuck() const {
  std::map<std::string, int> counts;
  for (const Thread& thread : threads_) {
    if (thread.state != State::kDone) {
      ++counts[ToString(thread.site) +
               (thread.state == State::kAtCta ? " (CTA barrier)" : " (warp)")];
    }
  }
  std::string text = "threads wait for each other for ever:";
  for (const auto& [where, count] : counts) {
    text += " " + std::to_string(count) + " at " + where + ";";
  }
  text += " " + std::to_string(done_) + " have ended";
  return {SimulatorFault::Kind::kDivergence, text};
}

std::string SimulatedCta::Who(int thread) const {
  return "thread " + std::to_string(thread) + " of CTA (" + std::to_string(index_[0]) + ", " +
         std::to_string(index_[1]) + ", " + std::to_string(index_[2]) + ")";
}

void SimulatedCta::Stop() {
  for (;;) {
    scheduler_ = std::move(scheduler_).resume();
  }
}

Moment SimulatedCta::Now(const Site& site) const {
  return {.cta = number_,
          .thread = running_,
          .warp = running_ / kLanes,
          .cta_barriers = cta_barriers_,
          .warp_barriers = threads_[static_cast<size_t>(running_)].warp_barriers,
          .site = site};
}

void SimulatedCta::Log(AccessLog::Kind kind, const void* address, uint32_t bytes,
                       const Site& site) {
  if (run_.options.log == nullptr) {
    return;
  }
  Thread& thread = threads_[static_cast<size_t>(running_)];
  const uint64_t key = reinterpret_cast<uintptr_t>(site.file) * 4096 +
                       static_cast<uint64_t>(site.line) * 4 + static_cast<uint64_t>(kind);
  const bool shared = kind == AccessLog::Kind::kSharedLoad || kind == AccessLog::Kind::kSharedStore;
  const auto at =
      shared ? static_cast<uintptr_t>(static_cast<const unsigned char*>(address) - shared_begin())
             : reinterpret_cast<uintptr_t>(address);
  run_.options.log->Add(kind, site, running_ / kLanes, running_ % kLanes, thread.turns[key]++, at,
                        bytes);
}

void SimulatedCta::CheckShared(const void* address, uint32_t bytes, uint32_t alignment,
                               const Site& site, const char* what) {
  const auto offset = static_cast<const unsigned char*>(address) - shared_begin();
  if (offset < 0 || static_cast<size_t>(offset) + bytes > run_.shared_bytes) {
    Fail(SimulatorFault::Kind::kOutOfBounds, site, [&] {
      return std::string(what) + " at byte " + std::to_string(offset) + " of " +
             std::to_string(run_.shared_bytes) + " bytes of shared memory";
    });
  }
  if (offset % alignment != 0) {
    Fail(SimulatorFault::Kind::kMisaligned, site, [&] {
      return std::string(what) + " of " + std::to_string(bytes) + " bytes at byte " +
             std::to_string(offset) + " of shared memory";
    });
  }
}

void SimulatedCta::OnSharedRead(const void* address, uint32_t bytes, uint32_t alignment,
                                const Site& site) {
  CheckShared(address, bytes, alignment, site, "read");
  Log(AccessLog::Kind::kSharedLoad, address, bytes, site);
  const auto first =
      static_cast<size_t>(static_cast<const unsigned char*>(address) - shared_begin());
  const Moment now = Now(site);
  for (size_t i = first / kHistoryBytes; i <= (first + bytes - 1) / kHistoryBytes; ++i) {
    if (in_flight_[i] != nullptr) {
      Fail(SimulatorFault::Kind::kCopyNotWaited, site, [&] {
        return "read of what the copy at " + ToString(*in_flight_[i]) + " has not delivered";
      });
    }
    if (!history_[i].written()) {
      Fail(SimulatorFault::Kind::kUninitialised, site, [&] {
        return "read of shared memory at byte " + std::to_string(i * kHistoryBytes) +
               ", which nobody has written";
      });
    }
    if (const Site* other = history_[i].Read(now)) {
      Fail(SimulatorFault::Kind::kRace, site, [&] {
        return "read without a barrier since another thread's write at " + ToString(*other);
      });
    }
  }
}

void SimulatedCta::OnSharedWrite(const void* address, uint32_t bytes, uint32_t alignment,
                                 const Site& site) {
  CheckShared(address, bytes, alignment, site, "write");
  Log(AccessLog::Kind::kSharedStore, address, bytes, site);
  const auto first =
      static_cast<size_t>(static_cast<const unsigned char*>(address) - shared_begin());
  const Moment now = Now(site);
  for (size_t i = first / kHistoryBytes; i <= (first + bytes - 1) / kHistoryBytes; ++i) {
    if (in_flight_[i] != nullptr) {
      Fail(SimulatorFault::Kind::kRace, site,
           [&] { return "write while the copy at " + ToString(*in_flight_[i]) + " is under way"; });
    }
    if (const Site* other = history_[i].Write(now)) {
      Fail(SimulatorFault::Kind::kRace, site, [&] {
        return "write without a barrier since another thread's access at " + ToString(*other);
      });
    }
  }
}

void SimulatedCta::CheckGlobal(const void* address, uint32_t bytes, uint32_t alignment,
                               const Site& site, const char* what) {
  if (reinterpret_cast<uintptr_t>(address) % alignment != 0) {
    Fail(SimulatorFault::Kind::kMisaligned, site, [&] {
      return std::string(what) + " of " + std::to_string(bytes) + " bytes at " +
             run_.memory.Describe(address);
    });
  }
  if (!run_.memory.Contains(address, bytes)) {
    Fail(SimulatorFault::Kind::kOutOfBounds, site,
         [&] { return std::string(what) + " at " + run_.memory.Describe(address); });
  }
}

void SimulatedCta::OnGlobalRead(const void* address, uint32_t bytes, uint32_t alignment,
                                const Site& site) {
  CheckGlobal(address, bytes, alignment, site, "read");
  Log(AccessLog::Kind::kGlobalLoad, address, bytes, site);
  if (!run_.options.global_races) {
    return;
  }
  const Moment now = Now(site);
  const Site* other = nullptr;
  run_.global_history.ForEach(address, bytes, [&](WordHistory& word) {
    other = word.Read(now);
    return other == nullptr;
  });
  if (other != nullptr) {
    Fail(SimulatorFault::Kind::kRace, site, [&] {
      return "read without a barrier since another thread's write at " + ToString(*other);
    });
  }
}

void SimulatedCta::OnGlobalWrite(const void* address, uint32_t bytes, uint32_t alignment,
                                 const Site& site) {
  CheckGlobal(address, bytes, alignment, site, "write");
  Log(AccessLog::Kind::kGlobalStore, address, bytes, site);
  if (!run_.options.global_races) {
    return;
  }
  const Moment now = Now(site);
  const Site* other = nullptr;
  run_.global_history.ForEach(address, bytes, [&](WordHistory& word) {
    other = word.Write(now);
    return other == nullptr;
  });
  if (other != nullptr) {
    Fail(SimulatorFault::Kind::kRace, site, [&] {
      return "write without a barrier since another thread's access at " + ToString(*other);
    });
  }
}

void SimulatedCta::CopyAsync16(void* to, const void* from, bool valid, const Site& site) {
  OnSharedWrite(to, kCopyBytes, kCopyBytes, site);
  if (valid) {
    OnGlobalRead(from, kCopyBytes, kCopyBytes, site);
  }
  std::memset(to, kPoison, kCopyBytes);
  Thread& thread = threads_[static_cast<size_t>(running_)];
  thread.open.push_back({static_cast<unsigned char*>(to), from, valid, site});
  const auto first = static_cast<size_t>(static_cast<unsigned char*>(to) - shared_begin());
  for (size_t i = first / kHistoryBytes; i < (first + kCopyBytes) / kHistoryBytes; ++i) {
    // The history keeps the site of this write for as long as nobody writes again.
    in_flight_[i] = &history_[i].write_site();
  }
}

void SimulatedCta::CommitCopies() {
  Thread& thread = threads_[static_cast<size_t>(running_)];
  thread.groups.push_back(std::move(thread.open));
  thread.open.clear();
}

void SimulatedCta::WaitCopies(int newest) {
  Thread& thread = threads_[static_cast<size_t>(running_)];
  while (thread.groups.size() > static_cast<size_t>(newest)) {
    for (const Copy& copy : thread.groups.front()) {
      Land(copy);
    }
    thread.groups.erase(thread.groups.begin());
  }
}

void SimulatedCta::Land(const Copy& copy) {
  if (copy.valid) {
    std::memcpy(copy.to, copy.from, kCopyBytes);
  } else {
    std::memset(copy.to, 0, kCopyBytes);
  }
  const Moment now = Now(copy.site);
  const auto first = static_cast<size_t>(copy.to - shared_begin());
  for (size_t i = first / kHistoryBytes; i < (first + kCopyBytes) / kHistoryBytes; ++i) {
    in_flight_[i] = nullptr;
    history_[i].Write(now);
  }
}

}  // namespace kvbench
