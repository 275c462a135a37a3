#include <memory>
#include <string>

#include "bench/designs/design_registry.h"
#include "bench/engine/engine.h"
#include "bench/executors/step_time_model.h"
#include "bench/micro/counters.h"
#include "fmt/format.h"
#include "workloads/hardware/calibration.h"
#include "workloads/hardware/hardware.h"
#include "workloads/models/model_shape.h"
#include "workloads/traces/trace_generator.h"

namespace kvbench::micro {
namespace {

constexpr int64_t kRequests = 100'000;

/// OPT-13B on an A100 with ShareGPT requests at 2 a second: what `kvbench run --executor modelled`
/// does, with equal steps taken at once or every sequence of every step looked at by itself.
void ModelledRun(benchmark::State& state, const Design& design, bool step_by_step) {
  const ModelShape model = LoadModel("opt-13b");
  const StepTimeModel times = MakeStepTimeModel(
      LoadCalibration("", LoadHardware("a100-sxm4-40gb")), model,
      {.weight_bytes = 26'000'000'000, .kv_bytes_per_token = 819'200, .flops_per_token = 26e9}, 1,
      Dtype::kFp16);
  EngineOptions options;
  options.metrics.exact_percentiles = false;
  options.step_by_step = step_by_step;
  double simulated_s = 0;
  for (auto _ : state) {
    GeneratedSource source({"sharegpt", "poisson", 2, kRequests, 0});
    const std::unique_ptr<KvCache> cache =
        design.make({.slots = 15'728, .block_size = 16, .max_model_len = 2048});
    ModelledExecutor executor(times);
    const EngineResult result = RunEngine(source, {}, *cache, executor, options);
    simulated_s = static_cast<double>(result.clock_ps) / 1e12;
  }
  state.counters["requests_per_s"] = PerSecond(static_cast<double>(kRequests));
  state.counters["simulated_s_per_s"] = PerSecond(simulated_s);
}

}  // namespace

void RegisterEngine() {
  for (const Design& design : Designs()) {
    if (!design.holds_cache) {
      continue;
    }
    for (const bool step_by_step : {false, true}) {
      const auto name = fmt::format("modelled_run/{}/{}", design.name,
                                    step_by_step ? "step_by_step" : "equal_steps");
      benchmark::RegisterBenchmark(name.c_str(), ModelledRun, design, step_by_step)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace kvbench::micro
