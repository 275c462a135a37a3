// Table 1, and the figures that are means of a run's own steps.
#include <fmt/format.h>

#include "bench/paper/figures.h"
#include "bench/plan/memory_plan.h"
#include "workloads/hardware/hardware.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

PaperValues MeasureTable1(PaperRunner&) {
  struct Column {
    const char* model;
    const char* hardware;
    int64_t devices;
    int64_t memory_bytes;  // total_memory of a device that gives the paper's slots
  };
  constexpr Column kColumns[] = {{"opt-13b", "a100-sxm4-40gb", 1, 42'298'834'944},
                                 {"opt-66b", "a100-sxm4-40gb", 4, 42'505'273'344},
                                 {"opt-175b", "a100-sxm4-80gb", 8, 85'051'637'760}};
  PaperValues samples;
  for (const Column& column : kColumns) {
    MemoryPlanInput input;
    input.model = LoadModel(column.model);
    input.hardware = LoadHardware(column.hardware);
    input.tensor_parallel = column.devices;
    input.memory_bytes = column.memory_bytes;
    const MemoryPlan plan = PlanMemory(input);
    const auto add = [&](const char* what, double value) {
      samples[fmt::format("{}: {}", column.model, what)] = {value};
    };
    const auto devices = static_cast<double>(column.devices);
    add("parameters, GB", static_cast<double>(plan.weight_bytes) * devices / 1e9);
    add("KV cache, GB", static_cast<double>(plan.kv_bytes) * devices / 1e9);
    add("blocks of 16 slots", static_cast<double>(plan.blocks));
    add("slots", static_cast<double>(plan.slots));
  }
  return samples;
}

PaperValues MeasureFig2(PaperRunner& runner) {
  PaperValues samples;
  for (const PaperRun& run : runner.Suite("paper/fig2")) {
    const PaperFig2& figure = run.record.kv.paper_fig2.value();
    const auto add = [&](const char* what, double percent) {
      samples[fmt::format("{}: {}", run.spec.design, what)].push_back(percent);
    };
    add("token states", figure.token_states);
    if (run.spec.design == "paged") {
      continue;  // the paper's other parts of this bar are not measured
    }
    add("reservation", figure.reservation);
    add("internal fragmentation", figure.internal_fragmentation);
    add("external fragmentation & others", figure.external_and_others);
  }
  return samples;
}

PaperValues MeasureFig13(PaperRunner& runner) {
  PaperValues samples;
  for (const PaperRun& run : runner.Suite("paper/fig13")) {
    samples[fmt::format("{}, {}", run.spec.lengths, run.spec.design)].push_back(
        run.record.mean_running_requests.value());
  }
  return samples;
}

PaperValues MeasureFig18b(PaperRunner& runner) {
  PaperValues samples;
  for (const PaperRun& run : runner.Suite("paper/fig18b")) {
    const UsageShares& usage = run.record.kv.usage_per_step.value();
    const auto add = [&](const char* what, double share) {
      samples[fmt::format("{}, block size {}: {}", run.spec.lengths, run.spec.block_size, what)]
          .push_back(100 * share);
    };
    add("token states", usage.live);
    add("last blocks", usage.overestimate + usage.rounding);
  }
  return samples;
}

PaperValues MeasureHeads(PaperRunner& runner) {
  PaperValues samples;
  for (const PaperRun& run : runner.Suite("paper/heads")) {
    const std::string name = fmt::format("{}, {}", run.spec.model, run.spec.design);
    samples[name + ": requests"].push_back(run.record.mean_running_requests.value());
    samples[name + ": token states, %"].push_back(100 * run.record.kv.token_usage.value());
  }
  return samples;
}

}  // namespace kvbench
