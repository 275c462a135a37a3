#pragma once

#include <cstdint>
#include <vector>

#include "kernels/simulator/simulator.h"

namespace kvbench {

/// The orders that every kernel is run in: in order, reversed, and six random ones.
inline std::vector<SimulatorOptions> Schedules() {
  std::vector<SimulatorOptions> all = {{.schedule = Schedule::kInOrder},
                                       {.schedule = Schedule::kReversed}};
  for (uint64_t seed = 0; seed < 6; ++seed) {
    all.push_back({.schedule = Schedule::kRandom, .seed = seed});
  }
  return all;
}

}  // namespace kvbench
