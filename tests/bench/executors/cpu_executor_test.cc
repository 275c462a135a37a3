#include "bench/executors/cpu_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <tuple>

#include "base/error.h"
#include "bench/designs/design_registry.h"
#include "bench/engine/engine.h"
#include "cache/paged_cache.h"
#include "tests/bench/executors/bent_operations.h"
#include "tests/bench/executors/small_model.h"

namespace kvbench {
namespace {

Trace SmallTrace() {
  std::mt19937 random(11);
  Trace trace;
  for (int i = 0; i < 12; ++i) {
    trace.requests.push_back({.arrival_ns = 0,
                              .prompt_tokens = 1 + static_cast<int64_t>(random() % 70),
                              .output_tokens = 1 + static_cast<int64_t>(random() % 40),
                              .prefix_ids = {}});
  }
  return trace;
}

/// (layer, request, position) -> attention output [heads * head_dim] of the first time it was
/// computed.
using Outputs = std::map<std::tuple<int64_t, int64_t, int64_t>, std::vector<float>>;

/// Runs the decoder as the cpu executor does and keeps every attention output. A token that is
/// computed again after a preemption must give the same.
class RecordingExecutor final : public Executor {
 public:
  RecordingExecutor(const Decoder::Config& config, const KvCache& cache, ThreadPool& pool)
      : model_(config.model),
        pool_(pool),
        pools_(config.model, KvType::kFp16, cache),
        decoder_(config, pool) {}

  StepTimes Run(const StepBatch& batch, const KvCache& cache, int64_t /*equal_steps*/) override {
    std::vector<AttentionSequence> sequences;
    pools_.Place(batch, cache, sequences);
    for (const Operation& operation : cache.operations()) {
      pools_.Copy(operation, pool_);
    }
    int64_t layer = 0;
    StepPhases phases;
    decoder_.Run(
        batch, sequences, pools_, [&](const AttentionCall& call) { Keep(layer++, batch, call); },
        phases);
    EXPECT_EQ(layer, model_.num_hidden_layers);
    return {.first_ps = 1'000'000};
  }

  Outputs outputs;

 private:
  void Keep(int64_t layer, const StepBatch& batch, const AttentionCall& call) {
    const int64_t width = model_.num_attention_heads * model_.head_dim;
    const float* row = call.out;
    for (const StepEntry& entry : batch.entries) {
      for (int64_t p = entry.first_position; p < entry.context(); ++p, row += width) {
        outputs.insert({{layer, entry.request, p}, std::vector<float>(row, row + width)});
      }
    }
  }

  ModelShape model_;
  ThreadPool& pool_;
  KvPools pools_;
  Decoder decoder_;
};

Outputs OutputsOf(const std::string& design, const std::string& growth, int32_t block_size,
                  int64_t slots, bool chunked, int64_t budget, int64_t* preemptions) {
  EngineLimits limits;
  limits.max_model_len = 128;
  limits.max_num_batched_tokens = budget;
  limits.chunked_prefill = chunked;
  const std::unique_ptr<KvCache> cache =
      FindDesign(design).make({.slots = slots,
                               .block_size = block_size,
                               .max_model_len = limits.max_model_len,
                               .growth = growth});
  ThreadPool pool(2);
  const Decoder::Config config{.model = SmallModel(),
                               .dense = true,
                               .max_tokens = budget,
                               .max_sequences = limits.max_num_seqs,
                               .max_positions = limits.max_model_len};
  RecordingExecutor executor(config, *cache, pool);
  const Trace trace = SmallTrace();
  TraceSource source(trace);
  const EngineResult result = RunEngine(source, limits, *cache, executor, {});
  EXPECT_EQ(result.metrics.finished(), 12);
  *preemptions = result.metrics.preemptions();
  return std::move(executor.outputs);
}

TEST(CpuExecutorTest, EveryDesignComputesTheSame) {
  int64_t preemptions = 0;
  const Outputs expected = OutputsOf("contiguous-max", "", 16, 12 * 128, true, 512, &preemptions);
  ASSERT_GT(expected.size(), 800U);
  struct Case {
    const char* design;
    int32_t block_size;
    int64_t slots;
    bool chunked;
    int64_t budget;
    bool preempts;
    const char* growth = "";
  };
  for (const Case& c :
       {Case{"contiguous-oracle", 16, 600, true, 512, false},
        Case{"contiguous-pow2", 16, 600, false, 512, false},
        Case{"contiguous-growing", 16, 2000, true, 512, false, "double"},
        Case{"contiguous-growing", 16, 400, true, 40, true, "double"},
        Case{"contiguous-growing", 16, 4000, false, 512, false, "concat"},
        Case{"contiguous-growing", 16, 400, true, 24, true, "concat"},
        Case{"paged", 16, 2000, true, 512, false}, Case{"paged", 1, 160, true, 512, true},
        Case{"paged", 16, 160, false, 512, true}, Case{"paged", 4, 160, true, 24, true},
        Case{"paged", 64, 1024, true, 17, false}}) {
    SCOPED_TRACE(std::string(c.design) + " " + std::to_string(c.block_size));
    const Outputs actual =
        OutputsOf(c.design, c.growth, c.block_size, c.slots, c.chunked, c.budget, &preemptions);
    EXPECT_EQ(preemptions > 0, c.preempts);
    ASSERT_EQ(actual.size(), expected.size());
    for (const auto& [key, values] : expected) {
      const std::vector<float>& other = actual.at(key);
      float largest = 0;
      float difference = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        largest = std::max(largest, std::abs(values[i]));
        difference = std::max(difference, std::abs(values[i] - other[i]));
      }
      // fp32 sums in another order, K and V rounded to fp16: a tie that falls the other way is
      // 2^-11.
      ASSERT_LE(difference, 2e-3F * largest)
          << "layer " << std::get<0>(key) << ", request " << std::get<1>(key) << ", position "
          << std::get<2>(key);
    }
  }
}

TEST(CpuExecutorTest, RunsWithoutDenseLayersAndVerifies) {
  MeasuredConfig config;
  config.model = SmallModel();
  config.dense = false;
  config.limits.max_model_len = 128;
  config.limits.max_num_batched_tokens = 64;
  PagedCache cache(600, 8);
  ThreadPool pool(2);
  CpuExecutor executor(config, cache, pool);
  EXPECT_EQ(executor.attention_kernel(), "auto:rows");
  EXPECT_EQ(executor.weight_bytes(), 0);
  const Trace trace = SmallTrace();
  TraceSource source(trace);
  const EngineResult result = RunEngine(source, config.limits, cache, executor, {});
  EXPECT_EQ(result.metrics.finished(), 12);
  EXPECT_TRUE(executor.verifier().passed());
  EXPECT_GE(executor.verifier().checked(), 10);
  EXPECT_EQ(executor.phases().dense, 0);
  EXPECT_GT(executor.phases().attention, 0);
}

TEST(CpuExecutorTest, FindsOutWhereAMoveIsNotWhatItShouldBe) {
  for (const Dtype dtype : {Dtype::kFp16, Dtype::kBf16, Dtype::kFp32, Dtype::kInt8}) {
    for (const char* growth : {"double", "concat"}) {
      for (const BentCase& c : BentCases()) {
        SCOPED_TRACE(std::string(DtypeName(dtype)) + " " + growth + " " + c.what);
        MeasuredConfig config;
        config.model = SmallModel();
        config.kv_cache_dtype = dtype;
        config.dense = false;
        config.limits.max_model_len = 128;
        config.limits.max_num_batched_tokens = 64;
        // Where all is well, preemptions too: what is computed again has other bytes, rightly.
        BentOperations cache(
            FindDesign("contiguous-growing")
                .make({.slots = c.passes ? 400 : 2048, .max_model_len = 128, .growth = growth}),
            c.bend);
        ThreadPool pool(2);
        CpuExecutor executor(config, cache, pool);
        const Trace trace = SmallTrace();
        TraceSource source(trace);
        const EngineResult result = RunEngine(source, config.limits, cache, executor, {});
        EXPECT_EQ(result.metrics.finished(), 12);
        EXPECT_EQ(executor.verifier().passed(), c.passes);
        EXPECT_GT(executor.kept_tokens().checked(), 10);
        if (c.passes) {
          EXPECT_GE(result.metrics.operations().operations, 5);
          EXPECT_GT(result.metrics.preemptions(), 0);
          EXPECT_GT(result.metrics.operations().time_ps, 0);
        }
      }
    }
  }
}

TEST(CpuExecutorTest, CopiesABlock) {
  const ModelShape model = SmallModel();
  for (const KvType type : {KvType::kFp16, KvType::kInt8}) {
    KvPools pools(model, type, PagedCache(256, 8));
    const int64_t row = model.head_dim * KvTypeBytes(type);
    const int64_t block_rows = 8 * model.num_key_value_heads;
    for (int64_t layer = 0; layer < model.num_hidden_layers; ++layer) {
      for (void* const array : {pools.k(layer), pools.v(layer)}) {
        for (int64_t i = 0; i < 32 * block_rows * row; ++i) {
          static_cast<uint8_t*>(array)[i] = static_cast<uint8_t>(i / row % 251 + layer);
        }
      }
    }
    ThreadPool pool(2);
    pools.Copy({.kind = Operation::Kind::kCopy,
                .from = {.first_slot = 5 * 8, .slots = 8},
                .to = {.first_slot = 17 * 8, .slots = 8},
                .tokens = 3},
               pool);
    for (int64_t layer = 0; layer < model.num_hidden_layers; ++layer) {
      for (int64_t head = 0; head < model.num_key_value_heads; ++head) {
        for (int64_t token = 0; token < 3; ++token) {
          const auto read = [&](int64_t block) {
            std::vector<uint8_t> bytes;
            pools.AppendRow(layer, (block * block_rows + head * 8 + token) * model.head_dim, bytes);
            return bytes;
          };
          EXPECT_EQ(read(17), read(5));
          EXPECT_NE(read(18), read(5));
        }
      }
    }
  }
}

TEST(CpuExecutorTest, SaysWhatItCannotRun) {
  const auto sentence = [](const std::function<void(MeasuredConfig&)>& change) {
    MeasuredConfig config;
    config.model = SmallModel();
    change(config);
    const PagedCache cache(600, 8);
    try {
      CpuExecutor::Check(config, cache);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(sentence([](MeasuredConfig&) {}), "");
  EXPECT_NE(sentence([](MeasuredConfig& c) { c.model.attention = Attention::kMLA; }).find("MLA"),
            std::string::npos);
  EXPECT_NE(
      sentence([](MeasuredConfig& c) { c.model.num_sliding_window_layers = 1; }).find("window"),
      std::string::npos);
  EXPECT_NE(sentence([](MeasuredConfig& c) { c.model.num_experts = 8; }).find("experts"),
            std::string::npos);
  EXPECT_NE(sentence([](MeasuredConfig& c) { c.model.head_dim = 192; }).find("192"),
            std::string::npos);
  EXPECT_NE(sentence([](MeasuredConfig& c) { c.dtype = Dtype::kFp16; }).find("--dtype"),
            std::string::npos);
  const auto odd_group = [](MeasuredConfig& c) {
    c.model.num_attention_heads = 3 * c.model.num_key_value_heads;
  };
  EXPECT_EQ(sentence(odd_group), "");
  EXPECT_THAT(sentence([&](MeasuredConfig& c) {
                odd_group(c);
                c.attention_kernel = "rows";
              }),
              testing::HasSubstr("--attention-kernel rows: it has 1, 2, 4 or 8 query heads"));
  EXPECT_THAT(sentence([](MeasuredConfig& c) { c.attention_kernel = "x"; }),
              testing::HasSubstr("there are auto, rows, tiles"));
  EXPECT_NE(sentence([](MeasuredConfig& c) { c.model.hidden_size = 1 << 24; }).find("GiB"),
            std::string::npos);
}

/// One sequence of 300 tokens, 2 query heads on 1 KV head of 64, fp32, with the right outputs.
struct VerifierCase {
  VerifierCase() {
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    for (std::vector<float>* values : {&k, &v}) {
      values->resize(304 * 64);
      for (float& x : *values) {
        x = normal(random);
      }
    }
    q.resize(2 * 64);
    for (float& x : q) {
      x = normal(random);
    }
    out.resize(2 * 64);
    sequences.push_back(
        {.first_query = 0, .num_queries = 1, .context = 300, .base = 0, .head_stride = 304 * 64});
    call.kv_type = KvType::kFp32;
    call.num_heads = 2;
    call.num_kv_heads = 1;
    call.head_dim = 64;
    call.scale = 0.125F;
    call.q = q.data();
    call.out = out.data();
    call.k = k.data();
    call.v = v.data();
    call.layout.token_stride = 64;
    call.sequences = sequences;
    ThreadPool pool(1);
    AttentionPlan plan;
    plan.Build(sequences, {.num_heads = 2, .num_kv_heads = 1, .num_threads = 1});
    CpuAttention(pool).Run(call, plan);
  }

  bool Passes() {
    AttentionVerifier verifier(CpuExecutor::kTolerance);
    verifier.BeginStep(sequences);
    verifier.Check(call);
    EXPECT_EQ(verifier.checked(), 1);
    EXPECT_EQ(verifier.checked_long(), 1);
    return verifier.passed();
  }

  std::vector<float> k;
  std::vector<float> v;
  std::vector<float> q;
  std::vector<float> out;
  std::vector<AttentionSequence> sequences;
  AttentionCall call;
};

TEST(VerifierTest, SeesAWrongOutputAWrongKeyAndANaN) {
  EXPECT_TRUE(VerifierCase().Passes());
  VerifierCase wrong_output;
  wrong_output.out[70] += 0.01F;
  EXPECT_FALSE(wrong_output.Passes());
  VerifierCase nan;
  nan.out[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(nan.Passes());
  VerifierCase wrong_key;  // as if one token had been written to another's slot
  std::swap_ranges(wrong_key.v.begin(), wrong_key.v.begin() + 64, wrong_key.v.begin() + 100 * 64);
  EXPECT_FALSE(wrong_key.Passes());
}

}  // namespace
}  // namespace kvbench
