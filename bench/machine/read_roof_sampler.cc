#include "bench/machine/read_roof_sampler.h"

#include <algorithm>

#include "base/statistics.h"
#include "bench/executors/cpu_caches.h"

namespace kvbench {

ReadRoofSampler::ReadRoofSampler(int threads)
    : roof_(static_cast<size_t>(MemoryWorkingSet(CpuCaches(), threads))), pool_(threads) {}

void ReadRoofSampler::Sample() {
  constexpr int kPasses = 3;
  pool_.Run([](int) {});  // its threads have started
  for (int pass = 0; pass < kPasses; ++pass) {
    passes_.push_back(roof_.Measure(pool_));
  }
}

std::optional<double> ReadRoofSampler::bytes_per_s() const { return Median(passes_); }

std::optional<double> ReadRoofSampler::spread() const {
  std::vector<double> sorted = passes_;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) {
    return std::nullopt;
  }
  return (*Percentile(sorted, 90) - *Percentile(sorted, 10)) / *Percentile(sorted, 50);
}

}  // namespace kvbench
