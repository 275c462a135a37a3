#pragma once

#include <optional>
#include <vector>

#include "kernels/cpu/read_roof.h"
#include "kernels/cpu/thread_pool.h"

namespace kvbench {

/// This machine's read roof around the measured runs of an invocation: what lets runs of different
/// days and machines be compared as shares of it.
class ReadRoofSampler {
 public:
  /// All cores, and memory that no cache holds, until the object is gone. Throws std::bad_alloc.
  ReadRoofSampler();

  /// A few passes over the memory, about a tenth of a second.
  void Sample();

  /// Median of all passes; nothing before the first Sample.
  std::optional<double> bytes_per_s() const;
  /// (90th - 10th percentile) / median of them.
  std::optional<double> spread() const;

 private:
  ReadRoof roof_;
  ThreadPool pool_;
  std::vector<double> passes_;
};

}  // namespace kvbench
