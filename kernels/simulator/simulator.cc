#include "kernels/simulator/simulator.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "kernels/simulator/cta.h"
#include "kernels/simulator/stack_pool.h"

namespace kvbench {

namespace {

// Room for kernels that a sanitizer has made larger.
constexpr size_t kStackBytes = size_t{256} << 10;

std::string Describe(const SimulatorOptions& options) {
  switch (options.schedule) {
    case Schedule::kInOrder:
      return "threads in order";
    case Schedule::kReversed:
      return "threads in reversed order";
    case Schedule::kRandom:
      break;
  }
  return "threads in random order, seed " + std::to_string(options.seed);
}

}  // namespace

Simulator::Simulator(GlobalMemory& memory)
    : memory_(memory), stacks_(std::make_unique<StackPool>(kStackBytes)) {}

Simulator::~Simulator() = default;

void Simulator::Launch(void (*entry)(const void*), const void* params, std::array<int, 3> grid,
                       int threads, size_t shared_bytes, const SimulatorOptions& options) {
  GridRun run{.memory = memory_,
              .options = options,
              .grid = grid,
              .threads = threads,
              .shared_bytes = shared_bytes,
              .entry = entry,
              .params = params,
              .stacks = stacks_.get(),
              .random = std::mt19937_64(options.seed),
              .global_history = {}};
  std::vector<int> order(static_cast<size_t>(grid[0]) * grid[1] * grid[2]);
  std::iota(order.begin(), order.end(), 0);
  if (options.schedule == Schedule::kReversed) {
    std::reverse(order.begin(), order.end());
  } else if (options.schedule == Schedule::kRandom) {
    std::shuffle(order.begin(), order.end(), run.random);
  }
  try {
    for (const int number : order) {
      SimulatedCta cta(
          run, {number % grid[0], number / grid[0] % grid[1], number / (grid[0] * grid[1])});
      cta.Run();
      if (options.log != nullptr) {
        options.log->EndCta();
      }
    }
  } catch (const SimulatorFault& fault) {
    throw SimulatorFault(fault.kind(), std::string(fault.what()) + " (" + Describe(options) + ")");
  }
  if (const std::string name = memory_.BrokenGuard(); !name.empty()) {
    throw SimulatorFault(SimulatorFault::Kind::kOutOfBounds,
                         "memory around '" + name + "' was written (" + Describe(options) + ")");
  }
}

}  // namespace kvbench
