#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/executors/cpu_roofs.h"
#include "bench/machine/gpu.h"
#include "bench/machine/machine_state.h"
#include "results/record/record.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

/// What some threads read from memory together.
struct ReadBandwidth {
  int64_t threads = 0;
  double bytes_per_s = 0;
};

/// What `kvbench info` measured.
struct MeasuredInfo {
  ModelShape model;
  Dtype kv_cache_dtype = Dtype::kFp16;
  std::vector<ReadBandwidth> read;  ///< by ascending threads
  CpuRoofs roofs;
  int64_t measured_at_s = 0;                ///< seconds since 1970, UTC
  std::optional<double> load_average_1min;  ///< before the measurement
  bool from_cache = false;                  ///< an earlier measurement
};

/// What `kvbench info` shows.
struct InfoReport {
  KvbenchInfo program;
  Environment environment;
  MachineState state;
  GpuSurvey gpus;
  std::optional<MeasuredInfo> measured;
  std::vector<std::string> doubts;
  int64_t now_s = 0;  ///< seconds since 1970, UTC
};

/// For people, lines of at most 100 columns.
std::string InfoText(const InfoReport& report);

/// One JSON object, keys with their units; what is unknown or not measured is null.
std::string InfoJson(const InfoReport& report);

}  // namespace kvbench
