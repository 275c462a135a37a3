#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/hardware/hardware.h"

namespace kvbench {

/// What a serving engine reaches of a machine's peaks, and what a step costs besides. Rates are
/// those of one device. 0 means that the term is left out.
struct Calibration {
  std::string name;
  std::string source;
  double weight_read_bytes_per_s = 0;
  double kv_read_bytes_per_s = 0;
  double dense_flops_per_s = 0;
  double attention_flops_per_s = 0;
  double kv_write_bytes_per_s = 0;
  double step_overhead_s = 0;      ///< launches, scheduling, sampling: once a step
  double sequence_overhead_s = 0;  ///< for each sequence of a step
  /// Added to each step by the tensor-parallel degree; a degree that is not there takes the next
  /// larger one's.
  std::map<int64_t, double> tensor_parallel_overhead_s;
  double link_bytes_per_s = 0;      ///< that an all-reduce reaches
  double all_reduce_latency_s = 0;  ///< of each all-reduce

  double TensorParallelOverhead(int64_t degree) const;
};

/// The calibration of that name for a machine, or, for "", the machine's own (the one that lists
/// it, otherwise "roofline"). Throws Error: an unknown name lists all.
Calibration LoadCalibration(std::string_view name, const Hardware& hardware);

/// Names in the order of workloads/data/calibrations.json.
std::vector<std::string> CalibrationNames();

}  // namespace kvbench
