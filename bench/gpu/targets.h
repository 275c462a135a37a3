#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/gpu/decode_bench.h"

namespace kvbench::gpu {

/// KV bytes over the median time of a cell, and the same of the roof beside it.
double AchievedBytesPerS(const DecodeResult& result);
double RoofBytesPerS(const DecodeResult& result, int64_t roof_bytes);

/// What the project sets itself, and how many cells hold it.
struct Target {
  std::string what;  ///< one line for a table
  std::string unit;  ///< of the figures
  double bound = 0;
  bool at_least = true;  ///< else at most
  int64_t held = 0;
  int64_t missed = 0;
  double worst = 0;        ///< the figure furthest on the wrong side; 0 where there is none
  std::string worst_cell;  ///< whose it is
};

/// 85 % of the read roof from 512 MB of KV on; paged-16 within 3 % of contiguous from 64 MB on.
/// Cells of the historical kernel do not count.
std::vector<Target> JudgeTargets(const std::vector<DecodeResult>& results, int64_t roof_bytes);

}  // namespace kvbench::gpu
