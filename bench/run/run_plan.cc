#include "bench/run/run_plan.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "bench/designs/design_registry.h"
#include "bench/engine/scheduler.h"
#include "bench/executors/cpu_executor.h"
#include "bench/executors/cuda_executor.h"
#include "bench/plan/memory_plan.h"
#include "bench/run/scheduler_names.h"
#include "workloads/models/model_parameters.h"
#include "workloads/traces/arrivals.h"
#include "workloads/traces/trace_digest.h"
#include "workloads/traces/trace_reader.h"

namespace kvbench {

namespace {

constexpr int64_t kDefaultKvMemory = int64_t{256} << 20;

GeneratorSpec Generator(const RunSpec& spec) {
  GeneratorSpec generator;
  generator.lengths = spec.lengths;
  generator.arrivals = !spec.arrivals.empty() ? spec.arrivals
                       : spec.rate > 0        ? "poisson"
                                              : "all-at-once";
  generator.rate = spec.rate;
  // As many as can be: the duration ends it.
  generator.requests = spec.duration_ps > 0 ? 100'000'000 : spec.requests;
  generator.duration_ns = spec.duration_ps / 1000;
  generator.seed = spec.seed;
  return generator;
}

LoadedTrace BuildTrace(const RunSpec& spec) {
  if (spec.trace.empty() == spec.lengths.empty()) {
    throw Error(spec.trace.empty()
                    ? "no requests: give --trace FILE, or --lengths SPEC, or a suite such as quick"
                    : "--trace and --lengths exclude each other: requests come from one of them");
  }
  LoadedTrace loaded;
  if (!spec.trace.empty()) {
    if (spec.duration_ps > 0) {
      throw Error("--duration is for generated requests; of a trace file take --limit requests");
    }
    loaded.trace = ReadTrace(spec.trace, {.limit = spec.limit, .columns = spec.columns});
    PutArrivals(loaded.trace, spec.arrivals, spec.rate, spec.seed);
  } else if (spec.modelled()) {
    loaded.generator = Generator(spec);
    GeneratedSource check(*loaded.generator);  // throws for what makes no sense
    loaded.trace = DescribeGenerated(*loaded.generator);
    return loaded;
  } else {
    loaded.trace = MakeTrace(Generator(spec));
  }
  loaded.digest = TraceDigest(loaded.trace);
  for (const Request& request : loaded.trace.requests) {
    loaded.total_output_tokens += request.output_tokens;
  }
  return loaded;
}

/// Loads each trace once, however many runs replay it.
class TraceLoader {
 public:
  std::shared_ptr<const LoadedTrace> Load(const RunSpec& s) {
    const Key key(s.trace, s.limit, s.columns, s.lengths, s.arrivals, s.rate, s.requests,
                  s.duration_ps, s.seed, s.modelled());
    std::shared_ptr<const LoadedTrace>& known = traces_[key];
    if (!known) {
      known = std::make_shared<LoadedTrace>(BuildTrace(s));
    }
    return known;
  }

 private:
  using Key = std::tuple<std::string, int64_t, std::string, std::string, std::string, double,
                         int64_t, int64_t, int64_t, bool>;
  std::map<Key, std::shared_ptr<const LoadedTrace>> traces_;
};

/// Throws Error where not one request of the trace could ever run; the scheduler itself says so.
void CheckSomethingFits(const PlannedRun& run) {
  const std::unique_ptr<KvCache> cache = MakeCache(run);
  if (cache->acts() && run.spec.limits.scheduler != SchedulerKind::kContinuous) {
    throw Error(fmt::format(
        "design {} needs scheduler continuous: a sequence that finds no room to move to is "
        "preempted, and whole batches must run to their end",
        run.spec.design));
  }
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(run.spec.limits, *cache);
  const std::unique_ptr<RequestSource> source = run.trace->Open();
  StepBatch batch;
  ScheduleOutcome outcome;
  std::string reason;
  int64_t requests = 0;
  for (Arrival arrival; source->Next(arrival.request);) {
    arrival.index = requests++;
    scheduler->Enqueue(std::move(arrival));
    scheduler->Schedule(batch, outcome);
    if (!batch.empty()) {
      return;
    }
    reason = outcome.rejected.front().reason;
  }
  if (requests == 0) {
    throw Error("the trace has no requests: nothing arrives within --duration");
  }
  throw Error(fmt::format(
      "{} with {} of KV cache ({} slots) can never run a single one of the {} requests "
      "(of the last: "
      "{}): raise --kv-memory or --max-model-len, or use shorter requests",
      run.spec.design, fmt::format("{:.4g} MiB", static_cast<double>(run.kv_memory) / (1 << 20)),
      cache->capacity_slots(), requests, reason));
}

/// What only a modelled run can have.
void CheckMeasured(const RunSpec& spec) {
  const auto refuse = [](const std::string& what) {
    throw Error(what +
                " is modelled only: add --executor modelled --hardware NAME, for example "
                "a100-sxm4-40gb");
  };
  if (!spec.hardware.empty() && spec.hardware != kThisCpu) {
    refuse("--hardware");
  }
  if (!spec.calibration.empty()) {
    refuse("--calibration");
  }
  if (spec.tensor_parallel_size != 1) {
    refuse("--tensor-parallel-size");
  }
  if (spec.limits.scheduler != SchedulerKind::kContinuous) {
    refuse(fmt::format("scheduler {}", SchedulerName(spec.limits.scheduler)));
  }
  if (!FindDesign(spec.design).holds_cache) {
    refuse(fmt::format("design {}", spec.design));
  }
}

std::unique_ptr<Device> OpenFor(const RunSpec& spec, const OpenDevice& open_gpu) {
  try {
    return open_gpu();
  } catch (const Error& error) {
    throw Error(fmt::format("--executor {}: {}", spec.executor, error.what()), error.kind());
  }
}

/// A rate search needs a rate that it can vary; gives it one to start at. Throws Error.
void PrepareRateSearch(RunSpec& spec) {
  if (!spec.modelled()) {
    throw Error(
        "--find-rate is modelled only, since it takes a dozen runs: add --executor modelled "
        "--hardware NAME, for example a100-sxm4-40gb");
  }
  if (spec.find_rate.kind == RateGoal::Kind::kSlo && !spec.slo.any()) {
    throw Error("--find-rate slo needs goals: add --slo, for example ttft=500ms,tpot=50ms");
  }
  if (spec.limits.max_concurrency > 0) {
    throw Error("--find-rate and --max-concurrency exclude each other: a closed loop has no rate");
  }
  if (std::isinf(spec.rate)) {
    throw Error("--find-rate starts at --rate, which must be finite, for example 1");
  }
  const bool own_arrivals = spec.arrivals.empty() && !spec.trace.empty();
  const ArrivalSpec::Kind kind =
      spec.arrivals.empty() ? ArrivalSpec::Kind::kPoisson : ParseArrivals(spec.arrivals).kind;
  if (own_arrivals || kind == ArrivalSpec::Kind::kFile || kind == ArrivalSpec::Kind::kAllAtOnce) {
    throw Error(
        "--find-rate needs arrivals whose rate can vary: add --arrivals poisson, gamma:cv=2 or "
        "constant");
  }
  spec.rate = spec.rate > 0 ? spec.rate : 1;
}

DeviceShare ShareOf(const ModelShape& model, Dtype dtype, Dtype kv_dtype, int64_t devices) {
  const ModelParameters parameters = CountParameters(model);
  const int64_t picked = model.weights.num_experts_per_tok;
  const double experts =
      picked > 0 ? static_cast<double>(picked) / static_cast<double>(model.num_experts) : 1.0;
  DeviceShare share;
  share.weight_bytes = ParametersPerDevice(model, devices) * DtypeBytes(dtype);
  share.expert_bytes = parameters.experts / devices * DtypeBytes(dtype);
  share.kv_bytes_per_token = KvBytesPerToken(DeviceShape(model, devices), kv_dtype);
  const auto met = static_cast<double>(parameters.total() - parameters.experts) +
                   static_cast<double>(parameters.experts) * experts;
  share.flops_per_token = 2.0 * met / static_cast<double>(devices);
  return share;
}

/// Modelled on this machine's CPU: what the cpu executor would run, with step times that come
/// later.
void PlanOnThisCpu(PlannedRun& run) {
  if (run.spec.tensor_parallel_size != 1 || !run.spec.calibration.empty()) {
    throw Error(
        "--hardware cpu is this machine as it measures itself: it takes neither "
        "--tensor-parallel-size nor --calibration");
  }
  run.machine = ModelledMachine{};
  run.machine->hardware.name = kThisCpu;
  run.machine->calibration.name = "measured";
  CpuExecutor::CheckKernels(run.model, run.spec.kv_cache_dtype);
}

void PlanModelled(PlannedRun& run) {
  const RunSpec& spec = run.spec;
  if (spec.hardware.empty()) {
    std::string names;
    for (const Hardware& hardware : BuiltInHardware()) {
      names += (names.empty() ? "" : ", ") + hardware.name;
    }
    throw Error("a modelled run needs --hardware: cpu (this one), or one of " + names);
  }
  ModelledMachine machine;
  machine.hardware = LoadHardware(spec.hardware);
  machine.calibration = LoadCalibration(spec.calibration, machine.hardware);
  const int64_t devices = spec.tensor_parallel_size;
  const DeviceShare share = ShareOf(run.model, run.dtype, spec.kv_cache_dtype, devices);
  machine.model = MakeStepTimeModel(machine.calibration, run.model, share, devices, run.dtype);
  run.weight_bytes = CountParameters(run.model).total() * DtypeBytes(run.dtype);
  run.slot_bytes = share.kv_bytes_per_token * devices;
  if (run.kv_memory == 0) {
    const MemoryPlan plan =
        PlanMemory({.model = run.model,
                    .hardware = machine.hardware,
                    .tensor_parallel = devices,
                    .dtype = run.dtype,
                    .kv_cache_dtype = spec.kv_cache_dtype,
                    .utilization = spec.gpu_memory_utilization,
                    .max_num_batched_tokens = spec.limits.max_num_batched_tokens,
                    .max_model_len = spec.limits.max_model_len});
    if (plan.kv_bytes <= 0) {
      throw Error(fmt::format(
          "model {} leaves no memory for a KV cache on {} x {}: {:.2f} GiB are missing; use more "
          "devices (--tensor-parallel-size) or a smaller --dtype; `kvbench plan` shows the sum",
          run.model.name, devices, machine.hardware.name,
          static_cast<double>(plan.short_by_bytes()) / (1 << 30)));
    }
    run.kv_memory = plan.kv_bytes * devices;
  }
  run.machine = std::move(machine);
}

}  // namespace

std::unique_ptr<RequestSource> LoadedTrace::Open() const {
  if (generator) {
    return std::make_unique<GeneratedSource>(*generator);
  }
  return std::make_unique<TraceSource>(trace);
}

std::unique_ptr<KvCache> MakeCache(const PlannedRun& run) {
  return FindDesign(run.spec.design)
      .make({.slots = run.slots,
             .block_size = run.spec.block_size,
             .max_model_len = run.spec.limits.max_model_len,
             .growth = run.spec.growth});
}

PlannedRun WithRate(const PlannedRun& run, double rate) {
  PlannedRun other = run;
  other.spec.rate = rate;
  other.trace = std::make_shared<LoadedTrace>(BuildTrace(other.spec));
  return other;
}

MeasuredConfig ExecutorConfig(const PlannedRun& run) {
  return {.model = run.model,
          .kv_cache_dtype = run.spec.kv_cache_dtype,
          .dtype = run.dtype,
          .dense = run.spec.dense,
          .limits = run.spec.limits,
          .attention_kernel = run.spec.attention_kernel};
}

std::vector<PlannedRun> PlanRuns(const std::vector<RunSpec>& specs, const OpenDevice& open_gpu) {
  std::vector<PlannedRun> runs;
  std::map<std::string, ModelShape> models;
  TraceLoader traces;
  std::shared_ptr<Device> gpu;
  for (const RunSpec& spec : specs) {
    PlannedRun run;
    run.spec = spec;
    if (spec.find_rate.kind != RateGoal::Kind::kNone) {
      PrepareRateSearch(run.spec);
    }
    if (spec.attention_kernel != "auto" && spec.executor != "cpu") {
      throw Error(fmt::format("--attention-kernel {} is of the cpu executor, and this run is {}",
                              spec.attention_kernel, spec.executor));
    }
    if (!models.contains(spec.model)) {
      models[spec.model] = LoadModel(spec.model);
    }
    run.model = models[spec.model];
    run.kv_memory = spec.kv_memory;
    run.kv_bytes_per_token = KvBytesPerToken(run.model, spec.kv_cache_dtype);
    const bool this_machine = spec.hardware == kThisCpu || !spec.modelled();
    run.dtype = spec.dtype.value_or(this_machine && !spec.on_gpu() ? Dtype::kFp32 : Dtype::kFp16);
    if (!this_machine) {
      PlanModelled(run);
    } else if (spec.modelled()) {
      PlanOnThisCpu(run);
    } else {
      CheckMeasured(spec);
    }
    if (spec.on_gpu()) {
      CudaExecutor::CheckKernels(ExecutorConfig(run));
      gpu = gpu ? gpu : OpenFor(spec, open_gpu);
      run.device = gpu;
    }
    if (this_machine) {
      run.kv_memory = run.kv_memory == 0 ? kDefaultKvMemory : run.kv_memory;
      run.slot_bytes = run.kv_bytes_per_token;
    }
    run.trace = traces.Load(run.spec);
    run.slots = run.kv_memory / run.slot_bytes;
    if (run.slots > int64_t{1} << 31) {
      throw Error(
          fmt::format("--kv-memory: {} slots of model {} are more than the 2^31 that a cache "
                      "may have",
                      run.slots, run.model.name));
    }
    CheckSomethingFits(run);
    if (spec.on_gpu()) {
      CudaExecutor::Check(ExecutorConfig(run), *MakeCache(run), *run.device);
    } else if (!spec.modelled()) {
      CpuExecutor::Check(ExecutorConfig(run), *MakeCache(run));
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace kvbench
