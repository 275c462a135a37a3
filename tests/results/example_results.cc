#include "tests/results/example_results.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "results/compare/statistics.h"
#include "results/record/label.h"
#include "results/table/binding.h"

namespace kvbench {
namespace {

constexpr int64_t kRequests = 100;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Figures in which the designs differ, close to what a run of the quick suite gives.
struct DesignFigures {
  UsageShares usage;
  double running = 0;
  double duration = 0;
  int64_t preemptions = 0;
};

DesignFigures FiguresOf(const std::string& design) {
  if (design == "contiguous-max") {
    return {{0.1875, 0.125, 0.5625, 0, 0.125}, 7.0, 40.5, 0};
  }
  if (design == "contiguous-pow2") {
    return {{0.25, 0.1875, 0.125, 0.25, 0.1875}, 12.25, 27.0, 0};
  }
  if (design == "contiguous-oracle") {
    return {{0.375, 0.25, 0, 0.25, 0.125}, 17.5, 20.25, 0};
  }
  return {{0.9375, 0, 0, 0.03125, 0.03125}, 36.75, 13.5, 12};
}

ModelInfo TwinMha() {
  ModelInfo model;
  model.name = "twin-mha";
  model.attention = "MHA";
  model.num_hidden_layers = 4;
  model.hidden_size = 512;
  model.num_attention_heads = 8;
  model.num_key_value_heads = 8;
  model.head_dim = 64;
  model.kv_cache_dtype = "float16";
  model.dtype = "float32";
  model.kv_bytes_per_token = 8192;
  model.weight_bytes = 50'348'032;
  return model;
}

void SetCapacity(RunRecord& run, int64_t slots) {
  constexpr int64_t kBudget = 32'243'712;  // 3,936 slots of twin-mha
  run.design.capacity_slots = slots;
  run.design.capacity_bytes = slots * run.model.kv_bytes_per_token;
  run.design.lost_bytes = kBudget - run.design.capacity_bytes;
}

LatencyStats Latencies(double first_ms, double step_ms) {
  std::vector<double> ms;
  for (int64_t i = 0; i < kRequests; ++i) {
    ms.push_back(first_ms + step_ms * static_cast<double>(i));
  }
  return Summarize(std::move(ms));
}

void FillOutcome(RunRecord& run, const DesignFigures& figures) {
  run.duration = figures.duration;
  run.completed = 94;
  run.rejected = 6;
  run.rejected_reasons = {{"prompt and output exceed max_model_len", 6}};
  run.total_input_tokens = 3'947;
  run.total_output_tokens = 8'262;
  run.request_throughput = 94 / run.duration;
  run.output_throughput = 8'262 / run.duration;
  run.total_token_throughput = (3'947 + 8'262) / run.duration;
  run.ttft = Latencies(12.5, figures.duration * 8);
  run.tpot = Latencies(20, 0.125);
  run.itl = Latencies(18, 0.25);
  run.e2el = Latencies(512, figures.duration * 10);
  run.queue = Latencies(0, figures.duration * 8);
  run.normalized_latency_mean_s_per_token = figures.duration / 128;
  run.mean_running_requests = figures.running * 0.75;
  run.peak_running_requests = static_cast<int64_t>(figures.running * 1.25);
  run.mean_waiting_requests = 40.5;
  run.steps = 1'000;
  run.preemptions = figures.preemptions;
  run.recomputed_tokens = figures.preemptions * 64;
  run.while_waiting = WhileWaiting{750, figures.duration * 0.75, figures.running, 200.0};
  run.bound_by = {0.75, 0, 0, 0.25};
}

KvStats KvOf(const UsageShares& usage, int64_t slots) {
  const double allocated = 1 - usage.free;
  KvStats kv;
  kv.usage_per_step = usage;
  kv.usage_over_time = usage;
  kv.token_usage = usage.live;
  kv.block_usage = allocated;
  kv.waste_of_capacity = 1 - usage.live;
  kv.waste_of_allocated = 1 - usage.live / allocated;
  kv.peak_live_slots = slots / 2;
  kv.peak_allocated_slots = slots;
  kv.resident_bytes = 33'554'432;
  kv.paper_fig2 = PaperFig2{100 * usage.live, 100 * usage.reserved, 100 * usage.overestimate,
                            100 * (usage.rounding + usage.free)};
  return kv;
}

}  // namespace

RunRecord ExampleRun(const std::string& design) {
  RunRecord run;
  run.model = TwinMha();
  run.design.name = design;
  if (design == "paged") {
    run.design.block_size = 16;
  }
  SetCapacity(run, 3'936);
  run.limits = {"continuous", true, 256, 2'048, 512, std::nullopt, 0.01, "recompute"};
  run.executor = {"cpu",        std::nullopt, 2,           1, true, std::nullopt,
                  std::nullopt, std::nullopt, std::nullopt};
  run.trace = {"quick",   "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
               kRequests, kInfinity,
               1,         "lengths sharegpt / 4, arrivals all at once",
               "ignored"};
  const DesignFigures figures = FiguresOf(design);
  FillOutcome(run, figures);
  run.kv = KvOf(figures.usage, run.design.capacity_slots);
  run.verification = Verification{64, 4, 16, 3.125e-07, 1e-5, true};
  run.phases = Phases{2.5, 0.25, figures.duration - 3, 0.0625, 0.1875};
  run.samples.output_throughput = {*run.output_throughput};
  run.samples.duration = {run.duration};
  run.label = MakeLabel(run);
  return run;
}

ResultsFile ExampleResults() {
  ResultsFile file;
  file.kvbench = {"0.1.0", "0123456789abcdef0123456789abcdef01234567", "Release", "GNU 12.2.0", {}};
  file.environment.os = "Debian GNU/Linux 12";
  file.environment.cpu_model = "Example CPU";
  file.environment.cpu_isa = "AVX2";
  file.environment.cores = 2;
  file.environment.memory_bytes = 8'589'934'592;
  file.environment.boot_id = "00000000-0000-4000-8000-000000000001";
  file.environment.gpu = GpuInfo{"Example GPU", 42'949'672'960, "570.00", "9.0", 52'428'800};
  file.environment.read_roof_bytes_per_s = 2.5e10;
  file.environment.read_roof_spread = 0.125;
  file.run_info = {"kvbench run quick.json --out r.json", "quick", "2025-01-31T12:00:00Z", 101.25,
                   true};
  for (const char* design : {"contiguous-max", "contiguous-pow2", "contiguous-oracle", "paged"}) {
    file.runs.push_back(ExampleRun(design));
  }

  RunRecord& detailed = file.runs.back();
  detailed.notes = {"a note of the run itself"};
  RequestSamples samples;
  for (int64_t i = 0; i < kRequests; ++i) {
    const bool rejected = i < 6;
    const double none = std::numeric_limits<double>::quiet_NaN();
    samples.arrival_s.push_back(0);
    samples.input_lens.push_back(40 + i % 7);
    samples.output_lens.push_back(rejected ? 0 : 80 + i % 11);
    samples.ttft_ms.push_back(rejected ? none : 12.5 * static_cast<double>(i));
    samples.e2el_ms.push_back(rejected ? none : 25.0 * static_cast<double>(i));
    samples.queue_ms.push_back(rejected ? none : 6.25 * static_cast<double>(i));
    samples.preemptions.push_back(i == 50 ? 12 : 0);
  }
  detailed.samples.requests = std::move(samples);
  detailed.timeline = {{0.125, 32, 62, 2'000, 0, 0, 96, 1'840}, {13.5, 0, 0, 0, 0, 0, 0, 3'936}};

  // A model whose cache holds everything: only the sequence cap holds requests back.
  for (const char* design : {"contiguous-max", "paged"}) {
    RunRecord run = ExampleRun(design);
    run.model.name = "twin-mqa";
    run.model.attention = "MQA";
    run.model.num_key_value_heads = 1;
    run.model.kv_bytes_per_token = 1'024;
    SetCapacity(run, 31'488);
    FillOutcome(run, {{}, 32, 13.5, 0});
    run.kv = KvOf({0.125, 0.0625, 0.0625, 0, 0.75}, 31'488);
    run.limits.max_num_seqs = 32;
    run.peak_running_requests = 32;
    run.bound_by = {0, 0.8125, 0, 0.1875};
    run.notes = {MemoryNote(run)};
    run.label = MakeLabel(run);
    run.executor.repetitions = 2;
    run.origin = RunOrigin{.started_at = "2025-01-30T12:00:00Z",
                           .command = "kvbench run quick.json --out monday.json",
                           .commit = std::nullopt,
                           .cpu_model = "Example CPU",
                           .cores = 2,
                           .boot_id = std::nullopt,
                           .gpu = std::nullopt,
                           .read_roof_bytes_per_s = 2e10,
                           .read_roof_spread = 0.25};
    file.runs.push_back(run);
    run.repetition = 1;
    run.duration *= 1.125;
    run.request_throughput = 94 / run.duration;
    run.output_throughput = 8'262 / run.duration;
    run.total_token_throughput = (3'947 + 8'262) / run.duration;
    file.runs.push_back(run);
  }
  return file;
}

ResultsFile EmptyResults() {
  ResultsFile file;
  file.kvbench = {"0.1.0", std::nullopt, "Debug", "GNU 12.2.0", {}};
  file.run_info = {"kvbench run", std::nullopt, "2025-01-31T12:00:00Z", 0, false};
  const RunRecord example = ExampleRun("paged");
  RunRecord run;
  run.model = example.model;
  run.design = example.design;
  run.limits = example.limits;
  run.executor = example.executor;
  run.trace = example.trace;
  run.trace.num_requests = 0;
  run.trace.request_rate.reset();
  run.trace.seed.reset();
  run.label = MakeLabel(run);
  file.runs.push_back(run);
  return file;
}

void ExpectGolden(const std::string& text, const std::string& name) {
  const std::string path = std::string(KVBENCH_SOURCE_DIR) + "/tests/results/golden/" + name;
  if (std::getenv("KVBENCH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
  }
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, golden.str()) << "differs from " << path
                                << "; if that is intended, run with KVBENCH_UPDATE_GOLDEN=1";
}

}  // namespace kvbench
