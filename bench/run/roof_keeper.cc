#include "bench/run/roof_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/executors/cpu_time_model.h"
#include "bench/run/run_once.h"
#include "kernels/cpu/thread_pool.h"

namespace kvbench {

namespace {

/// What the roofs depend on.
std::string ModelKey(const PlannedRun& run) {
  return fmt::format("{} {} {} {} {}", run.spec.model, DtypeName(run.spec.kv_cache_dtype),
                     DtypeName(run.dtype), ResolveThreads(run.spec), run.spec.block_size);
}

/// What the predicted and the measured run have in common.
std::string RunKey(const PlannedRun& run) {
  const RunSpec& s = run.spec;
  const EngineLimits& l = s.limits;
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", ModelKey(run),
                     s.design, run.kv_memory, s.dense, l.max_model_len, l.max_num_seqs,
                     l.max_num_batched_tokens, l.chunked_prefill, l.max_concurrency, s.trace,
                     s.limit, s.columns, s.lengths, s.arrivals, s.rate, s.requests, s.duration_ps,
                     s.seed);
}

/// Whether two measurements found the machine in the same state. A thread that shares its core with
/// another program answers a call a hundred times later, which shows before throughput does.
bool Steady(const CpuRoofs& before, const CpuRoofs& after) {
  constexpr double kQuickDispatch = 2e-6;
  const auto differ = [](double a, double b, double share) {
    return std::abs(a - b) > share * std::min(a, b);
  };
  for (const double rows : {8.0, 32.0, 64.0}) {
    if (differ(SecondsAt(before.dense, rows), SecondsAt(after.dense, rows), RoofKeeper::kSteady)) {
      return false;
    }
  }
  return std::max(before.dispatch_s, after.dispatch_s) < kQuickDispatch ||
         !differ(before.dispatch_s, after.dispatch_s, 1.0);
}

}  // namespace

const CpuRoofs& RoofKeeper::Measure(const PlannedRun& run) {
  ThreadPool pool(static_cast<int>(ResolveThreads(run.spec)));
  const CpuRoofOptions options{.seconds = 1.5,
                               .model_weights = true,
                               .dtype = run.dtype,
                               .block_sizes = {0, run.spec.block_size}};
  std::vector<CpuRoofs>& roofs = by_model_[ModelKey(run)];
  roofs.push_back(MeasureCpuRoofs(run.model, run.spec.kv_cache_dtype, pool, options));
  last_ = ModelKey(run);
  return roofs.back();
}

void RoofKeeper::BeforeRun(const PlannedRun& run) {
  by_run_[RunKey(run)] = {last_ == ModelKey(run) ? by_model_[last_].back() : Measure(run)};
  last_.clear();
}

bool RoofKeeper::AfterRun(const PlannedRun& run) {
  std::vector<CpuRoofs>& roofs = by_run_[RunKey(run)];
  roofs.push_back(Measure(run));
  return Steady(roofs.front(), roofs.back());
}

void RoofKeeper::Predict(PlannedRun& run) {
  const auto own = by_run_.find(RunKey(run));
  if (own == by_run_.end() && by_model_[ModelKey(run)].empty()) {
    Measure(run);
  }
  const CpuRoofs roofs = Combine(own != by_run_.end() ? own->second : by_model_[ModelKey(run)]);
  const int32_t block_size = MakeCache(run)->block_size();
  run.machine->model =
      MakeCpuTimeModel(roofs, run.model, run.spec.kv_cache_dtype, run.spec.dense, block_size);
  run.machine->roofs = {.read_bytes_per_s = roofs.read_bytes_per_s,
                        .read_spread = roofs.read_spread,
                        .dense_flops_per_s = 2 * 32 / SecondsAt(roofs.dense, 32)};
}

}  // namespace kvbench
