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
  /// Keeps memory that no cache holds until the object is gone. Throws std::bad_alloc.
  /// @param threads as many as read, and as the runs have: where another program takes a core, one
  /// thread keeps its speed and two do not
  explicit ReadRoofSampler(int threads);

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
