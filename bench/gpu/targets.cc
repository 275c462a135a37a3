#include "bench/gpu/targets.h"

#include "base/statistics.h"

namespace kvbench::gpu {

namespace {

constexpr int64_t kMegabyte = 1'000'000;
constexpr int64_t kRoofFrom = 512 * kMegabyte;
constexpr double kShareOfRoof = 0.85;
constexpr int64_t kPagedFrom = 64 * kMegabyte;
constexpr double kPagedOverContiguous = 1.03;
constexpr int32_t kPagedBlock = 16;

double MedianOf(const std::vector<double>& seconds) { return Median(seconds).value_or(0); }

void Judge(Target& target, double value, const std::string& cell) {
  const bool holds = target.at_least ? value >= target.bound : value <= target.bound;
  ++(holds ? target.held : target.missed);
  const bool worse = target.at_least ? value < target.worst : value > target.worst;
  if (target.worst_cell.empty() || worse) {
    target.worst = value;
    target.worst_cell = cell;
  }
}

/// The same work by the same kernels' contiguous layout, or null.
const DecodeResult* ContiguousOf(const std::vector<DecodeResult>& results,
                                 const DecodeResult& paged) {
  for (const DecodeResult& other : results) {
    if (other.measured() && !other.cell.vllm_v1 && other.cell.block_size == 0 &&
        other.cell.attention == paged.cell.attention &&
        other.cell.num_heads == paged.cell.num_heads && other.cell.batch == paged.cell.batch &&
        other.cell.context == paged.cell.context) {
      return &other;
    }
  }
  return nullptr;
}

}  // namespace

double AchievedBytesPerS(const DecodeResult& result) {
  return static_cast<double>(result.cell.KvBytes()) / MedianOf(result.seconds);
}

double RoofBytesPerS(const DecodeResult& result, int64_t roof_bytes) {
  return static_cast<double>(roof_bytes) / MedianOf(result.roof_seconds);
}

std::vector<Target> JudgeTargets(const std::vector<DecodeResult>& results, int64_t roof_bytes) {
  Target roof{.what = "decode reaches 85 % of the read roof from 512 MB of KV on",
              .unit = "share of the roof",
              .bound = kShareOfRoof,
              .worst_cell = {}};
  Target paged{.what = "paged-16 takes at most 3 % longer than contiguous from 64 MB of KV on",
               .unit = "times contiguous",
               .bound = kPagedOverContiguous,
               .at_least = false,
               .worst_cell = {}};
  for (const DecodeResult& result : results) {
    if (!result.measured() || result.cell.vllm_v1) {
      continue;
    }
    if (result.cell.KvBytes() >= kRoofFrom) {
      Judge(roof, AchievedBytesPerS(result) / RoofBytesPerS(result, roof_bytes),
            result.cell.Name());
    }
    if (result.cell.block_size == kPagedBlock && result.cell.KvBytes() >= kPagedFrom) {
      if (const DecodeResult* const contiguous = ContiguousOf(results, result)) {
        Judge(paged, MedianOf(result.seconds) / MedianOf(contiguous->seconds), result.cell.Name());
      }
    }
  }
  return {roof, paged};
}

}  // namespace kvbench::gpu
