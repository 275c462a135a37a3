#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "kernels/simulator/access_log.h"
#include "kernels/simulator/fault.h"
#include "kernels/simulator/global_history.h"
#include "kernels/simulator/global_memory.h"

namespace kvbench {

/// In which order runnable threads of a CTA go on, and CTAs of a grid run. A right kernel gives the
/// same bytes under every order.
enum class Schedule { kInOrder, kReversed, kRandom };

struct SimulatorOptions {
  Schedule schedule = Schedule::kInOrder;
  uint64_t seed = 0;         ///< of kRandom
  bool global_races = true;  ///< look for races in global memory, too
  AccessLog* log = nullptr;  ///< where accesses are counted, if anywhere
};

/// Stacks of fibers, reused over CTAs and launches.
class StackPool;

/// What all CTAs of a launch share.
struct GridRun {
  const GlobalMemory& memory;
  SimulatorOptions options;
  std::array<int, 3> grid = {1, 1, 1};
  int threads = 0;
  size_t shared_bytes = 0;
  void (*entry)(const void*) = nullptr;
  const void* params = nullptr;
  StackPool* stacks = nullptr;
  std::mt19937_64 random;
  GlobalHistory global_history;
};

/// Runs kernels on this CPU: one fiber a CUDA thread, one CTA after the other. Not for speed: it
/// checks bounds, alignment, races, barriers and copies, each with the place in the source.
class Simulator {
 public:
  explicit Simulator(GlobalMemory& memory);
  ~Simulator();

  /// Runs a grid of CTAs. Throws SimulatorFault naming what a kernel did wrong and where; the
  /// message names the schedule and its seed.
  void Launch(void (*entry)(const void*), const void* params, std::array<int, 3> grid, int threads,
              size_t shared_bytes, const SimulatorOptions& options);

 private:
  GlobalMemory& memory_;
  std::unique_ptr<StackPool> stacks_;
};

}  // namespace kvbench
