#pragma once

#include <array>
#include <boost/context/fiber.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/simulator/fault.h"
#include "kernels/simulator/simulator.h"
#include "kernels/simulator/word_history.h"

namespace kvbench {

/// One CTA on the simulator: its threads as fibers of one OS thread, its barriers, its shared
/// memory. What the device vocabulary asks for ends here.
class SimulatedCta {
 public:
  static constexpr int kLanes = 32;
  static constexpr int kSlotBytes = 64;

  /// What lanes of a warp hand each other in one collective.
  struct Exchange {
    uint32_t mask = 0;
    uint32_t arrived = 0;
    uint32_t left = 0;
    Site site;
    alignas(16) std::array<std::array<unsigned char, kSlotBytes>, kLanes> slots;
    /// Filled by the last lane that arrives, where a collective computes for all of them.
    alignas(16) std::array<float, 128> result;
  };

  SimulatedCta(GridRun& run, std::array<int, 3> index);
  SimulatedCta(const SimulatedCta&) = delete;
  SimulatedCta& operator=(const SimulatedCta&) = delete;

  /// Runs all threads to their end. Throws SimulatorFault.
  void Run();

  /// The CTA and thread that run now. Precondition: called from within a kernel.
  static SimulatedCta& current();

  // What the vocabulary needs, for the thread that runs.
  int thread_id() const { return running_; }
  int thread_count() const { return static_cast<int>(threads_.size()); }
  const std::array<int, 3>& index() const { return index_; }
  int cta_count_x() const { return run_.grid[0]; }

  void SyncCta(const Site& site);
  void SyncWarp(const Site& site);
  /// Waits until all lanes of the mask are here; `complete` runs once, in the last of them. The
  /// caller reads the slots and then calls Leave.
  template <typename F>
  Exchange& Meet(uint32_t mask, const void* value, size_t bytes, const Site& site, F&& complete) {
    bool last = false;
    Exchange& exchange = Arrive(mask, value, bytes, site, last);
    if (last) {
      complete(exchange);
      Release(exchange);
    } else {
      Suspend(State::kAtWarp, site);
    }
    return exchange;
  }
  void Leave(Exchange& exchange);

  void* SharedAt(int byte_offset) { return shared_begin() + byte_offset; }
  void OnSharedRead(const void* address, uint32_t bytes, uint32_t alignment, const Site& site);
  void OnSharedWrite(const void* address, uint32_t bytes, uint32_t alignment, const Site& site);
  void OnGlobalRead(const void* address, uint32_t bytes, uint32_t alignment, const Site& site);
  void OnGlobalWrite(const void* address, uint32_t bytes, uint32_t alignment, const Site& site);

  void CopyAsync16(void* to, const void* from, bool valid, const Site& site);
  void CommitCopies();
  void WaitCopies(int newest);

  /// Ends the launch; does not return. `what` makes the message: all that it allocates is gone
  /// before the thread stops, as its stack is never unwound. Not marked noreturn, and no exception:
  /// the address sanitizer follows neither on a fiber.
  template <typename F>
  void Fail(SimulatorFault::Kind kind, const Site& site, F&& what) {
    fault_.emplace(kind, ToString(site) + ": " + what() + ": " + Who(running_));
    Stop();
  }

 private:
  enum class State { kRunnable, kAtCta, kAtWarp, kDone };

  struct Copy {
    unsigned char* to = nullptr;
    const void* from = nullptr;
    bool valid = false;
    Site site;
  };

  /// A fiber whose destructor nobody calls: one that has ended needs none, and those that a failed
  /// CTA leaves suspended would be run again by it. Their stacks go back to the pool as they are.
  union FiberSlot {
    FiberSlot() : fiber() {}
    FiberSlot(const FiberSlot&) = delete;
    FiberSlot& operator=(const FiberSlot&) = delete;
    ~FiberSlot() {}
    boost::context::fiber fiber;
  };

  struct Thread {
    FiberSlot self;
    bool started = false;
    State state = State::kRunnable;
    Site site;
    uint32_t warp_barriers = 0;
    std::vector<std::vector<Copy>> groups;  // committed, oldest first
    std::vector<Copy> open;                 // not yet committed
    std::unordered_map<uint64_t, int64_t> turns;
  };

  unsigned char* shared_begin() { return shared_.get(); }
  Moment Now(const Site& site) const;
  void Start(int thread);
  void Suspend(State state, const Site& site);
  int Pick();  // -1: nobody can run
  Exchange& Arrive(uint32_t mask, const void* value, size_t bytes, const Site& site, bool& last);
  void Release(Exchange& exchange);
  void OnExit(int thread);
  void Stop();
  SimulatorFault Stuck() const;
  std::string Who(int thread) const;
  void CheckShared(const void* address, uint32_t bytes, uint32_t alignment, const Site& site,
                   const char* what);
  void Log(AccessLog::Kind kind, const void* address, uint32_t bytes, const Site& site);
  void CheckGlobal(const void* address, uint32_t bytes, uint32_t alignment, const Site& site,
                   const char* what);
  void Land(const Copy& copy);

  GridRun& run_;
  std::array<int, 3> index_;
  int number_ = 0;
  std::vector<Thread> threads_;
  std::vector<uint32_t> runnable_;  // by warp, a bit for each lane
  std::vector<uint32_t> ended_;     // likewise
  int running_ = 0;
  int at_cta_ = 0;
  int done_ = 0;
  uint32_t cta_barriers_ = 0;
  boost::context::fiber scheduler_;
  std::optional<SimulatorFault> fault_;

  std::vector<std::vector<std::unique_ptr<Exchange>>> open_;  // by warp
  std::vector<std::unique_ptr<Exchange>> spare_;
  std::vector<std::unique_ptr<Exchange>> complete_;

  struct FreeAligned {
    void operator()(unsigned char* p) const { ::operator delete[](p, std::align_val_t{128}); }
  };
  std::unique_ptr<unsigned char[], FreeAligned> shared_;
  std::vector<WordHistory> history_;    // one for two bytes of shared memory
  std::vector<const Site*> in_flight_;  // the copy under way to it
};

}  // namespace kvbench
