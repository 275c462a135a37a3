#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/executors/measured_executor.h"
#include "bench/executors/step_time_model.h"
#include "bench/machine/gpu.h"
#include "bench/run/run_spec.h"
#include "cache/kv_cache.h"
#include "kernels/cuda/device.h"
#include "results/record/record.h"
#include "workloads/hardware/calibration.h"
#include "workloads/hardware/hardware.h"
#include "workloads/models/model_shape.h"
#include "workloads/traces/request.h"
#include "workloads/traces/request_source.h"
#include "workloads/traces/trace_generator.h"

namespace kvbench {

/// A trace that several runs replay: held with its digest, or described by its generator alone,
/// which then gives the requests one by one.
struct LoadedTrace {
  Trace trace;                             ///< without requests where there is a generator
  std::optional<GeneratorSpec> generator;  ///< requests are drawn, not held
  std::string digest;                      ///< of a held trace
  int64_t total_output_tokens = 0;         ///< of a held trace

  std::unique_ptr<RequestSource> Open() const;
};

/// The machine that a modelled run is for.
struct ModelledMachine {
  Hardware hardware;
  Calibration calibration;
  StepTimeModel model;
  std::optional<MeasuredRoofs> roofs;  ///< of this machine's CPU
};

/// The hardware name for the machine that the program runs on: its step times come from roofs that
/// are measured in the same process.
constexpr std::string_view kThisCpu = "cpu";

/// A run with everything that it needs loaded.
struct PlannedRun {
  RunSpec spec;
  ModelShape model;
  Dtype dtype = Dtype::kFp32;  ///< of the weights
  std::shared_ptr<const LoadedTrace> trace;
  std::optional<ModelledMachine> machine;  ///< of a modelled run
  std::shared_ptr<Device> device;          ///< of a run on a GPU; all of them share it
  int64_t weight_bytes = 0;                ///< of a modelled run, on all devices
  int64_t kv_memory = 0;                   ///< bytes on all devices
  int64_t kv_bytes_per_token = 0;          ///< of the model
  int64_t slot_bytes = 0;  ///< on all devices: more where KV heads are on several of them
  int64_t slots = 0;       ///< of the KV budget, before a design cuts them to whole blocks
};

/// Gives the GPU that runs go to.
using OpenDevice = std::function<std::unique_ptr<Device>()>;

/// Loads models, machines and traces, each once, and checks that every run can be done, so that
/// nothing fails after an hour. Throws Error: for what cannot be read, for a cache that no request
/// of its trace can ever fit, and (kMachine) for what the machine cannot hold or does not have.
/// @param open_gpu asked once, and only where a run is for a GPU
std::vector<PlannedRun> PlanRuns(const std::vector<RunSpec>& specs,
                                 const OpenDevice& open_gpu = OpenGpu);

/// The same run with its requests arriving at another rate (requests/s, infinity: all at once).
/// Throws Error where its arrivals have no rate.
PlannedRun WithRate(const PlannedRun& run, double rate);

/// A fresh cache for a run.
std::unique_ptr<KvCache> MakeCache(const PlannedRun& run);

/// The executor's view of a measured run.
MeasuredConfig ExecutorConfig(const PlannedRun& run);

}  // namespace kvbench
