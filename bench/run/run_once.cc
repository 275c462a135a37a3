#include "bench/run/run_once.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/error.h"
#include "bench/executors/busy_wait_executor.h"
#include "bench/executors/cpu_executor.h"
#include "bench/executors/cuda_executor.h"
#include "bench/run/record_builder.h"
#include "kernels/cpu/thread_pool.h"
#include "workloads/traces/trace_digest.h"

namespace kvbench {

namespace {

/// Passes requests on and digests them.
class DigestedSource final : public RequestSource {
 public:
  explicit DigestedSource(RequestSource& source) : source_(source) {}

  bool Next(Request& request) override {
    if (!source_.Next(request)) {
      return false;
    }
    digester_.Add(request);
    return true;
  }
  std::string Finish() { return digester_.Finish(); }

 private:
  RequestSource& source_;
  TraceDigester digester_;
};

}  // namespace

int64_t ResolveThreads(const RunSpec& spec) {
  const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  const int64_t threads = spec.threads == 0 ? cores : spec.threads;
  if (threads > 4 * cores) {
    throw Error(fmt::format("--threads {}: this machine has {} cores", threads, cores));
  }
  return threads;
}

std::optional<RunRecord> RunOnce(const PlannedRun& run, const RunOnceOptions& options) {
  const RunSpec& spec = run.spec;
  EngineOptions engine;
  engine.metrics = {.window = spec.window,
                    .slo = spec.slo,
                    .exact_percentiles = !spec.modelled() || options.detailed,
                    .keep_requests = options.detailed,
                    .expected_tokens = spec.modelled() ? 0 : run.trace->total_output_tokens};
  engine.step_by_step = options.step_by_step;
  engine.until_ps = options.until_ps;
  engine.on_step = options.on_step;
  const std::unique_ptr<KvCache> cache = MakeCache(run);
  const std::unique_ptr<RequestSource> requests = run.trace->Open();
  FinishedRun finished{.run = run,
                       .cache = *cache,
                       .metrics = Metrics({}),
                       .measured = nullptr,
                       .trace_sha256 = run.trace->digest,
                       .repetition = options.repetition,
                       .repetitions = options.repetitions,
                       .threads = 0,
                       .detailed = options.detailed};
  const auto finish = [&](EngineResult&& result) -> std::optional<RunRecord> {
    if (result.stopped) {
      return std::nullopt;
    }
    finished.metrics = std::move(result.metrics);
    return BuildRecord(finished);
  };
  MeasuredConfig config = ExecutorConfig(run);
  config.ranges = options.ranges;
  if (spec.on_gpu()) {
    CudaExecutor executor(config, *cache, *run.device);
    finished.measured = &executor;
    return finish(RunEngine(*requests, spec.limits, *cache, executor, engine));
  }
  if (!spec.modelled()) {
    finished.threads = ResolveThreads(spec);
    ThreadPool pool(static_cast<int>(finished.threads));
    CpuExecutor executor(config, *cache, pool);
    finished.measured = &executor;
    if (options.busy_wait <= 0) {
      return finish(RunEngine(*requests, spec.limits, *cache, executor, engine));
    }
    BusyWaitExecutor slower(executor, options.busy_wait);
    std::optional<RunRecord> record =
        finish(RunEngine(*requests, spec.limits, *cache, slower, engine));
    if (record) {
      record->notes.push_back(fmt::format("KVBENCH_TEST_BUSY_WAIT made every step {:.3g} % longer",
                                          100 * options.busy_wait));
    }
    return record;
  }
  ModelledExecutor executor(run.machine->model);
  DigestedSource digested(*requests);
  EngineResult result = RunEngine(digested, spec.limits, *cache, executor, engine);
  if (run.trace->generator) {
    finished.trace_sha256 = digested.Finish();
  }
  return finish(std::move(result));
}

}  // namespace kvbench
