#include "bench/executors/cuda_executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <regex>
#include <tuple>

#include "base/error.h"
#include "bench/designs/design_registry.h"
#include "bench/engine/engine.h"
#include "bench/executors/decoder.h"
#include "bench/executors/kv_pools.h"
#include "bench/run/run_once.h"
#include "bench/run/run_plan.h"
#include "cache/paged_cache.h"
#include "kernels/cuda/simulated_device.h"
#include "tests/bench/executors/bent_operations.h"
#include "tests/bench/executors/small_model.h"

namespace kvbench {
namespace {

constexpr int64_t kRequests = 5;
constexpr int64_t kMaxModelLen = 64;

ModelShape TinyModel() {
  ModelShape m = SmallModel();
  m.hidden_size = 64;
  m.num_attention_heads = 2;
  m.num_key_value_heads = 1;
  m.intermediate_size = 64;
  m.vocab_size = 64;
  return m;
}

Trace FiveRequests() {
  Trace trace;
  for (const auto& [prompt, output] :
       std::vector<std::pair<int64_t, int64_t>>{{21, 12}, {15, 9}, {33, 4}, {1, 18}, {30, 1}}) {
    trace.requests.push_back(
        {.arrival_ns = 0, .prompt_tokens = prompt, .output_tokens = output, .prefix_ids = {}});
  }
  return trace;
}

/// A token's attention output in one layer of one step, or (layer kLogits) the logits of the token
/// after the last.
constexpr int64_t kLogits = -1;
struct Output {
  int64_t step = 0;
  int64_t layer = 0;
  int64_t request = 0;
  int64_t position = 0;
  std::vector<float> values;  // [heads * head_dim], or [vocabulary]

  auto key() const { return std::tuple(step, layer, request, position); }
};

/// Runs a decoder as the executors do, and keeps every attention output.
class RecordingExecutor final : public Executor {
 public:
  /// Runs a step, calls back with each layer's output on the host, and gives its logits.
  using Step =
      std::function<std::vector<float>(const StepBatch&, std::span<const AttentionSequence>,
                                       const std::function<void(const float* out)>&)>;
  RecordingExecutor(const ModelShape& model, const KvPlacement& placement, Step step)
      : width_(model.num_attention_heads * model.head_dim),
        placement_(placement),
        step_(std::move(step)) {}

  StepTimes Run(const StepBatch& batch, const KvCache& cache, int64_t /*equal_steps*/) override {
    std::vector<AttentionSequence> sequences;
    placement_.Place(batch, cache, sequences);
    ++steps_;
    int64_t layer = 0;
    const std::vector<float> logits = step_(batch, sequences, [&](const float* row) {
      for (const StepEntry& entry : batch.entries) {
        for (int64_t p = entry.first_position; p < entry.context(); ++p, row += width_) {
          outputs.push_back({.step = steps_,
                             .layer = layer,
                             .request = entry.request,
                             .position = p,
                             .values = std::vector<float>(row, row + width_)});
        }
      }
      ++layer;
    });
    if (!logits.empty()) {
      const auto width = static_cast<std::ptrdiff_t>(TinyModel().vocab_size);
      auto row = logits.begin();
      for (const StepEntry& entry : batch.entries) {
        if (entry.generates) {
          outputs.push_back({.step = steps_,
                             .layer = kLogits,
                             .request = entry.request,
                             .position = entry.context(),
                             .values = std::vector<float>(row, row + width)});
          row += width;
        }
      }
    }
    return {.first_ps = 1'000'000};
  }

  std::vector<Output> outputs;

 private:
  int64_t width_;
  const KvPlacement& placement_;
  Step step_;
  int64_t steps_ = 0;
};

struct Case {
  const char* design;
  int32_t block_size;
  int64_t slots;
  bool chunked;
  int64_t budget;  // tokens of a step
  bool dense;
  KvType kv_type;
  bool preempts;
  double tolerance;  // of an output row's largest element
};

struct Recorded {
  std::vector<Output> outputs;
  int64_t preemptions = 0;
};

Recorded RunRecorded(const Case& c, KvCache& cache, const KvPlacement& placement,
                     RecordingExecutor::Step step) {
  EngineLimits limits;
  limits.max_model_len = kMaxModelLen;
  limits.max_num_batched_tokens = c.budget;
  limits.chunked_prefill = c.chunked;
  RecordingExecutor executor(TinyModel(), placement, std::move(step));
  const Trace trace = FiveRequests();
  TraceSource source(trace);
  const EngineResult result = RunEngine(source, limits, cache, executor, {});
  EXPECT_EQ(result.metrics.finished(), kRequests);
  EXPECT_EQ(cache.usage().free, cache.capacity_slots());
  return {std::move(executor.outputs), result.metrics.preemptions()};
}

std::unique_ptr<KvCache> CacheOf(const Case& c) {
  return FindDesign(c.design).make(
      {.slots = c.slots, .block_size = c.block_size, .max_model_len = kMaxModelLen});
}

size_t LogitsOf(const Case& c, const StepBatch& batch) {
  return c.dense ? static_cast<size_t>(batch.load.generating * TinyModel().vocab_size) : 0;
}

Recorded OnCpu(const Case& c) {
  const std::unique_ptr<KvCache> cache = CacheOf(c);
  ThreadPool pool(1);
  KvPools pools(TinyModel(), c.kv_type, *cache);
  Decoder decoder({.model = TinyModel(),
                   .dense = c.dense,
                   .max_tokens = c.budget,
                   .max_sequences = kRequests,
                   .max_positions = kMaxModelLen},
                  pool);
  return RunRecorded(c, *cache, pools,
                     [&](const StepBatch& batch, std::span<const AttentionSequence> sequences,
                         const std::function<void(const float*)>& keep) {
                       StepPhases phases;
                       decoder.Run(
                           batch, sequences, pools,
                           [&](const AttentionCall& call) { keep(call.out); }, phases);
                       std::vector<float> logits(LogitsOf(c, batch));
                       std::copy_n(decoder.logits(), logits.size(), logits.begin());
                       return logits;
                     });
}

Recorded OnDevice(const Case& c) {
  const std::unique_ptr<KvCache> cache = CacheOf(c);
  SimulatedDevice device;
  DevicePools pools(device, TinyModel(), c.kv_type, *cache);
  DeviceDecoder decoder(
      device,
      {.model = TinyModel(),
       .dense = c.dense,
       .max_tokens = c.budget,
       .max_sequences = kRequests,
       .max_positions = kMaxModelLen,
       .max_blocks = c.block_size > 0 ? cache->capacity_slots() / c.block_size : 0},
      pools);
  std::vector<float> out;
  return RunRecorded(
      c, *cache, pools,
      [&](const StepBatch& batch, std::span<const AttentionSequence> sequences,
          const std::function<void(const float*)>& keep) {
        decoder.Run(
            batch, sequences,
            [&](const AttentionCall& call) {
              out.resize(static_cast<size_t>(batch.tokens() * call.num_heads * call.head_dim));
              device.CopyToHost(out.data(), call.out, out.size() * sizeof(float));
              keep(out.data());
            },
            nullptr);
        std::vector<float> logits(LogitsOf(c, batch));
        device.CopyToHost(logits.data(), decoder.logits(), logits.size() * sizeof(float));
        return logits;
      });
}

/// The largest |a - b| of any output, as a share of its row's largest element.
double LargestError(const std::vector<Output>& expected, const std::vector<Output>& actual) {
  double error = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(expected[i].key(), actual[i].key());
    double largest = 0;
    double difference = 0;
    for (size_t j = 0; j < expected[i].values.size(); ++j) {
      const double delta = std::abs(double{expected[i].values[j]} - double{actual[i].values[j]});
      EXPECT_FALSE(std::isnan(delta));
      largest = std::max(largest, std::abs(double{expected[i].values[j]}));
      difference = std::max(difference, delta);
    }
    error = std::max(error, difference / largest);
  }
  return error;
}

class CudaExecutorOutputsTest : public testing::TestWithParam<Case> {};

TEST_P(CudaExecutorOutputsTest, EveryAttentionOutputIsTheCpuExecutors) {
  const Case& c = GetParam();
  const Recorded cpu = OnCpu(c);
  const Recorded device = OnDevice(c);
  EXPECT_EQ(cpu.preemptions > 0, c.preempts);
  EXPECT_EQ(device.preemptions, cpu.preemptions);
  ASSERT_EQ(device.outputs.size(), cpu.outputs.size());
  ASSERT_GE(cpu.outputs.size(), 2U * (32 + 23 + 36 + 18 + 30));
  const double error = LargestError(cpu.outputs, device.outputs);
  RecordProperty("largest_error", std::to_string(error));
  EXPECT_LE(error, c.tolerance);
}

// Without dense layers Q, K and V are the same on both, and outputs differ by the kernels alone.
// With them, weights and what they read have 16 bits on the device and 32 on the CPU.
constexpr KvType kFp16 = KvType::kFp16;
constexpr KvType kBf16 = KvType::kBf16;
INSTANTIATE_TEST_SUITE_P(
    Designs, CudaExecutorOutputsTest,
    testing::Values(Case{"contiguous-max", 0, 5 * 64, false, 128, false, kFp16, false, 2e-3},
                    Case{"contiguous-max", 0, 5 * 64, true, 24, false, kFp16, false, 2e-3},
                    Case{"paged", 16, 5 * 16, false, 128, false, kFp16, true, 2e-3},
                    Case{"paged", 8, 10 * 8, true, 24, false, kFp16, true, 2e-3},
                    Case{"paged", 8, 10 * 8, true, 24, false, kBf16, true, 1e-2},
                    Case{"contiguous-max", 0, 5 * 64, false, 128, true, kFp16, false, 5e-3},
                    Case{"contiguous-max", 0, 5 * 64, true, 24, true, kFp16, false, 5e-3},
                    Case{"paged", 16, 5 * 16, false, 128, true, kFp16, true, 5e-3},
                    Case{"paged", 8, 10 * 8, true, 24, true, kFp16, true, 5e-3}),
    [](const testing::TestParamInfo<Case>& tested) {
      const Case& c = tested.param;
      std::string name = std::string(c.design) + "_" + std::to_string(c.block_size) +
                         (c.chunked ? "_chunked" : "_whole") + (c.dense ? "_dense" : "_noise") +
                         (c.kv_type == kBf16 ? "_bf16" : "_fp16");
      return std::regex_replace(name, std::regex("-"), "_");
    });

MeasuredConfig TinyConfig(bool dense) {
  MeasuredConfig config;
  config.model = TinyModel();
  config.dtype = Dtype::kFp16;
  config.dense = dense;
  config.limits.max_model_len = kMaxModelLen;
  config.limits.max_num_batched_tokens = 48;
  config.limits.max_num_seqs = 8;
  return config;
}

TEST(CudaExecutorTest, ServesAndVerifies) {
  for (const bool dense : {false, true}) {
    SimulatedDevice device;
    PagedCache cache(96, 8);
    const MeasuredConfig config = TinyConfig(dense);
    CudaExecutor::Check(config, cache, device);
    CudaExecutor executor(config, cache, device);
    EXPECT_EQ(executor.kv_bytes(), 96 * KvBytesPerToken(config.model, Dtype::kFp16));
    EXPECT_EQ(executor.weight_bytes() > 0, dense);
    const Trace trace = FiveRequests();
    TraceSource source(trace);
    const EngineResult result = RunEngine(source, config.limits, cache, executor, {});
    EXPECT_EQ(result.metrics.finished(), kRequests);
    EXPECT_TRUE(executor.verifier().passed()) << executor.verifier().max_relative_error();
    EXPECT_GE(executor.verifier().checked(), 10);
    EXPECT_EQ(executor.phases().dense > 0, dense);
    EXPECT_GT(executor.phases().attention, 0);
    EXPECT_GT(executor.phases().bookkeeping, 0);
  }
}

TEST(CudaExecutorTest, MovesWhatItShouldAndFindsOutWhereItIsNot) {
  for (const char* growth : {"double", "concat"}) {
    for (const BentCase& c : BentCases()) {
      SCOPED_TRACE(std::string(growth) + " " + c.what);
      SimulatedDevice device;
      const MeasuredConfig config = TinyConfig(false);
      BentOperations cache(
          FindDesign("contiguous-growing")
              .make({.slots = 1024, .max_model_len = kMaxModelLen, .growth = growth}),
          c.bend);
      CudaExecutor executor(config, cache, device);
      const Trace trace = FiveRequests();
      TraceSource source(trace);
      const EngineResult result = RunEngine(source, config.limits, cache, executor, {});
      EXPECT_EQ(result.metrics.finished(), kRequests);
      EXPECT_EQ(executor.verifier().passed(), c.passes);
      EXPECT_GT(executor.kept_tokens().checked(), 3);
      if (c.passes) {
        EXPECT_GE(result.metrics.operations().operations, 3);
        EXPECT_GT(result.metrics.operations().time_ps, 0);
      }
    }
  }
}

TEST(CudaExecutorTest, AllocatesWhatItSays) {
  for (const bool dense : {false, true}) {
    for (const char* design : {"contiguous-max", "contiguous-growing", "paged"}) {
      SimulatedDevice device;
      const std::unique_ptr<KvCache> cache =
          FindDesign(design).make({.slots = 640, .block_size = 16, .max_model_len = kMaxModelLen});
      const MeasuredConfig config = TinyConfig(dense);
      const size_t before = device.free_bytes();
      const CudaExecutor executor(config, *cache, device);
      const size_t taken = before - device.free_bytes();
      // A device of exactly that size is enough, and one of a byte less is not.
      SimulatedDevice enough({}, static_cast<int64_t>(taken));
      EXPECT_NO_THROW(CudaExecutor::Check(config, *cache, enough));
      EXPECT_NO_THROW(CudaExecutor(config, *cache, enough));
      SimulatedDevice less({}, static_cast<int64_t>(taken) - 1);
      EXPECT_THROW(CudaExecutor::Check(config, *cache, less), Error);
      EXPECT_THROW(CudaExecutor(config, *cache, less), Error);
      EXPECT_EQ(less.free_bytes(), taken - 1);
    }
  }
}

TEST(CudaExecutorTest, SaysTheLargestCacheThatFits) {
  MeasuredConfig config = TinyConfig(true);
  config.limits.max_num_batched_tokens = 4096;  // activations of some MiB
  const int64_t slot_bytes = KvBytesPerToken(config.model, Dtype::kFp16);
  const auto cache_of = [&](const char* design, int64_t mib) {
    return FindDesign(design).make(
        {.slots = (mib << 20) / slot_bytes, .block_size = 16, .max_model_len = kMaxModelLen});
  };
  for (const char* design : {"contiguous-max", "paged"}) {
    SimulatedDevice device({}, int64_t{40} << 20);
    try {
      CudaExecutor::Check(config, *cache_of(design, 100), device);
      FAIL() << "100 MiB of KV cache fit into 40 MiB";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 3);
      const std::string text = error.what();
      EXPECT_NE(text.find("and 40.0 MiB are free"), std::string::npos) << text;
      EXPECT_TRUE(std::regex_search(text, std::regex("model small needs 1[0-9][0-9]\\.[0-9] MiB")))
          << text;
      std::smatch found;
      ASSERT_TRUE(std::regex_search(text, found, std::regex("--kv-memory ([0-9]+)MiB or less")))
          << text;
      const int64_t largest = std::stoll(found[1]);
      EXPECT_GT(largest, 20);
      EXPECT_NO_THROW(CudaExecutor(config, *cache_of(design, largest), device));
      EXPECT_THROW(CudaExecutor::Check(config, *cache_of(design, largest + 2), device), Error);
    }
  }
  SimulatedDevice tiny({}, 4096);
  try {
    CudaExecutor::Check(config, *cache_of("paged", 1), tiny);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("without any KV cache"), std::string::npos);
  }
}

TEST(CudaExecutorTest, PlannedRunsShareAGpuAndTheRecordNamesIt) {
  RunSpec spec;
  spec.executor = "cuda";
  spec.model = KVBENCH_SOURCE_DIR "/tests/data/tiny-gqa.json";
  spec.lengths = "fixed:prompt=9:output=3";
  spec.requests = 2;
  spec.kv_memory = int64_t{1} << 20;
  spec.limits = {.max_num_seqs = 4, .max_num_batched_tokens = 32, .max_model_len = 64};
  spec.dense = false;
  RunSpec contiguous = spec;
  contiguous.design = "contiguous-max";
  int opened = 0;
  const std::vector<PlannedRun> runs = PlanRuns({spec, contiguous}, [&] {
    ++opened;
    return std::make_unique<SimulatedDevice>();
  });
  EXPECT_EQ(opened, 1);
  for (const PlannedRun& run : runs) {
    EXPECT_EQ(run.dtype, Dtype::kFp16);
    const std::optional<RunRecord> record = RunOnce(run, {});
    ASSERT_TRUE(record);
    EXPECT_EQ(record->completed, 2);
    EXPECT_EQ(record->executor.kind, "cuda");
    EXPECT_EQ(record->executor.hardware, "simulator");
    EXPECT_FALSE(record->executor.threads);
    ASSERT_TRUE(record->verification);
    EXPECT_TRUE(record->verification->passed);
    EXPECT_EQ(record->verification->tolerance, 2e-3);
    EXPECT_TRUE(record->phases);
    EXPECT_TRUE(record->kv.resident_bytes);
  }
  // Nobody asks for a GPU that no run is for.
  spec.executor = "cpu";
  EXPECT_NO_THROW(PlanRuns(
      {spec}, []() -> std::unique_ptr<Device> { throw Error("no GPU", Error::Kind::kMachine); }));
}

TEST(CudaExecutorTest, SaysWhatItCannotRun) {
  const auto sentence = [](const std::function<void(MeasuredConfig&)>& change) {
    MeasuredConfig config = TinyConfig(true);
    change(config);
    try {
      CudaExecutor::CheckKernels(config);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(sentence([](MeasuredConfig&) {}), "");
  EXPECT_NE(sentence([](MeasuredConfig& c) { c.model.attention = Attention::kMLA; }).find("MLA"),
            std::string::npos);
  EXPECT_NE(sentence([](MeasuredConfig& c) { c.model.head_dim = 96; }).find("64, 128 and 256"),
            std::string::npos);
  EXPECT_NE(sentence([](MeasuredConfig& c) { c.model.hidden_size = 66; }).find("multiples of 4"),
            std::string::npos);
  EXPECT_NE(sentence([](MeasuredConfig& c) { c.kv_cache_dtype = Dtype::kInt8; }).find("int8"),
            std::string::npos);
  EXPECT_NE(sentence([](MeasuredConfig& c) { c.dtype = Dtype::kFp32; }).find("--dtype float32"),
            std::string::npos);
}

}  // namespace
}  // namespace kvbench
