#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "kernels/checks/attention_case.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/attention_kernel.h"
#include "tests/kernels/targets_for_test.h"

namespace kvbench {
namespace {

constexpr double kTolerance = 1e-5;
constexpr int kLongest = 600;

// Sanitizers make everything 10 to 40 times slower: shorter sequences and fewer rows checked there,
// the same combinations.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr std::array kTypes = {KvType::kFp16, KvType::kBf16, KvType::kFp32, KvType::kInt8};
constexpr std::array kGroups = {1, 2, 4, 8, 32};
constexpr std::array kHeadDims = {64, 80, 96, 128, 256};

class CpuAttentionTest : public testing::Test {
 protected:
  // Evenly over the powers of two, so that short and long sequences are both common.
  int32_t RandomLength(int32_t longest) {
    const double u = std::uniform_real_distribution<double>(0, 1)(random_);
    return std::min(longest, static_cast<int32_t>(std::pow(longest + 1.0, u)));
  }

  int32_t RandomUpTo(int32_t most) {
    return 1 + static_cast<int32_t>(random_() % static_cast<size_t>(most));
  }

  // A batch of one to three sequences, decodes and chunks of prompts.
  AttentionCaseSpec RandomSpec(KvType type, bool paged, int32_t group, int32_t head_dim) {
    AttentionCaseSpec spec;
    spec.kv_type = type;
    spec.block_size = paged ? 1 << (random_() % 9) : 0;
    spec.head_stride = random_() % 4 == 0 ? HeadStride::kUnpadded : HeadStride::kPadded;
    spec.group = group;
    spec.num_kv_heads = group == 32 ? 1 : RandomUpTo(3);
    spec.head_dim = head_dim;
    const int32_t count = RandomUpTo(3);
    for (int32_t i = 0; i < count; ++i) {
      const int32_t context = RandomLength(kSanitized ? 300 : kLongest);
      const bool decode = random_() % 3 != 0;
      spec.sequences.push_back({context, decode ? 1 : RandomUpTo(std::min(context, 20))});
    }
    return spec;
  }

  /// The largest error of all kernels that have the shape.
  double RunCase(const AttentionCaseSpec& spec, int threads) {
    AttentionCase attention(spec, normals_, random_);
    plan_.Build(attention.sequences(),
                {spec.group * spec.num_kv_heads, spec.num_kv_heads, threads});
    double error = 0;
    for (const CpuAttentionKernel* kernel : CpuAttentionKernels()) {
      if (!kernel->supports(CpuAttentionShape::Of(attention.call()))) continue;
      attention.ClearOutput();
      Attention(threads, kernel->name).Run(attention.call(), plan_);
      ++kernel_cases_[std::string(kernel->name)];
      EXPECT_TRUE(attention.GuardsIntact()) << kernel->name << ": " << spec.ToString();
      // Fewer rows where another kernel has the shape, too: the reference takes most of the time.
      const int rows = error > 0 ? 5 : kSanitized ? 6 : 20;
      const double of_kernel = attention.LargestError(rows, random_);
      EXPECT_LT(of_kernel, kTolerance) << kernel->name << ": " << spec.ToString();
      error = std::max(error, of_kernel);
    }
    return error;
  }

  /// On so many threads; the level of prefetches is what this machine likes on one, and each of the
  /// two on more.
  CpuAttention& Attention(int threads, std::string_view kernel = "auto") {
    std::unique_ptr<CpuAttention>& attention = attentions_[{threads, std::string(kernel)}];
    if (attention == nullptr) {
      ThreadPool& pool = threads == 1 ? one_ : threads == 2 ? two_ : three_;
      attention = std::make_unique<CpuAttention>(pool, kernel,
                                                 threads == 1   ? FasterPrefetchLevel()
                                                 : threads == 2 ? PrefetchLevel::kSecond
                                                                : PrefetchLevel::kFirst);
    }
    return *attention;
  }

  std::mt19937_64 random_{1};
  NormalTable normals_;
  AttentionPlan plan_;
  ThreadPool one_{1}, two_{2}, three_{3};
  std::map<std::pair<int, std::string>, std::unique_ptr<CpuAttention>> attentions_;
  std::map<std::string, int> kernel_cases_;  // that each has run
};

TEST_F(CpuAttentionTest, MatchesTheReferenceInEveryCombination) {
  constexpr int kRepeats = 20;
  double largest = 0;
  int cases = 0;
  for (const KvType type : kTypes) {
    for (const bool paged : {false, true}) {
      for (const int group : kGroups) {
        for (const int head_dim : kHeadDims) {
          for (int repeat = 0; repeat < kRepeats; ++repeat, ++cases) {
            const AttentionCaseSpec spec = RandomSpec(type, paged, group, head_dim);
            const double error = RunCase(spec, 1 + cases % 3);
            ASSERT_LT(error, kTolerance) << spec.ToString();
            largest = std::max(largest, error);
          }
        }
      }
    }
  }
  EXPECT_EQ(cases, 4000);
  EXPECT_EQ(kernel_cases_["tiles"], cases);
  EXPECT_EQ(kernel_cases_["rows"], cases * 4 / 5);  // not of groups of 32
  RecordProperty("cases", cases);
  RecordProperty("largest_relative_error", fmt::format("{:.2e}", largest));
}

TEST_F(CpuAttentionTest, EveryInstructionSetMatchesTheReference) {
  for (const int64_t target : RunnableTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const ScopedTarget scoped(target);
    int cases = 0;
    for (const KvType type : kTypes) {
      for (const int group : {1, 2, 3, 4, 8, 32}) {
        for (const int head_dim : kHeadDims) {
          const AttentionCaseSpec spec = RandomSpec(type, cases % 2 == 0, group, head_dim);
          ASSERT_LT(RunCase(spec, 1 + cases++ % 3), kTolerance) << spec.ToString();
        }
      }
    }
  }
}

TEST(CpuAttentionKernelsTest, AutoIsTheFirstThatHasTheShape) {
  const auto chosen = [](int32_t group) {
    return std::string(FindCpuAttentionKernel("auto", {KvType::kFp16, group, 128}).name);
  };
  for (const int32_t group : {1, 2, 4, 8}) EXPECT_EQ(chosen(group), "rows");
  for (const int32_t group : {3, 16, 71}) EXPECT_EQ(chosen(group), "tiles");
  if ((HWY_TARGETS & HWY_SCALAR) != 0) {
    const ScopedTarget plain(HWY_SCALAR);
    EXPECT_EQ(chosen(1), "tiles");
  }
}

TEST(CpuAttentionKernelsTest, RefusesAShapeInASentence) {
  EXPECT_EQ(FindCpuAttentionKernel("tiles", {KvType::kInt8, 1, 64}).name, "tiles");
  EXPECT_THROW(FindCpuAttentionKernel("rows", {KvType::kFp16, 3, 64}), Error);
  EXPECT_THROW(FindCpuAttentionKernel("columns", {KvType::kFp16, 1, 64}), Error);
  ThreadPool pool(1);
  EXPECT_THROW(CpuAttention(pool, "columns"), Error);
}

TEST_F(CpuAttentionTest, OddGroupsTakeTheGeneralPath) {
  for (const int group : {3, 5, 6, 7, 9, 12, 71}) {
    for (const bool paged : {false, true}) {
      const AttentionCaseSpec spec = RandomSpec(KvType::kFp16, paged, group, 64);
      EXPECT_LT(RunCase(spec, 2), kTolerance) << spec.ToString();
    }
  }
}

TEST_F(CpuAttentionTest, ManyHeadsAreWorkedInChunks) {
  AttentionCaseSpec spec;
  spec.num_kv_heads = 40;
  spec.head_dim = 256;
  spec.group = 4;
  spec.block_size = 16;
  spec.sequences = {{200, 1}, {30, 1}};
  EXPECT_LT(RunCase(spec, 2), kTolerance);
  spec.group = 1;
  spec.sequences = {{90, 90}, {130, 70}, {300, 1}};
  EXPECT_LT(RunCase(spec, 3), kTolerance);
}

TEST_F(CpuAttentionTest, PromptsAroundTileBorders) {
  AttentionCaseSpec spec;
  spec.num_kv_heads = 2;
  for (const int32_t block : {0, 1, 16, 24, 64, 256}) {  // 24: not a power of two
    for (const int32_t context : {1, 63, 64, 65, 127, 129, 200}) {
      for (const int32_t queries : {1, 2, 63, 64, 65, 128}) {
        if (queries > context) continue;
        spec.block_size = block;
        spec.head_dim = context % 2 == 0 ? 64 : 128;
        spec.sequences = {{context, queries}};
        ASSERT_LT(RunCase(spec, 1 + queries % 3), kTolerance) << spec.ToString();
      }
    }
  }
}

TEST_F(CpuAttentionTest, SplitsAreMergedAndDeterministic) {
  AttentionCaseSpec spec;
  spec.num_kv_heads = 2;
  spec.group = 4;
  spec.block_size = 16;
  spec.sequences = {{600, 1}, {500, 4}};
  AttentionCase attention(spec, normals_, random_);
  plan_.Build(attention.sequences(), {8, 2, 3});
  ASSERT_FALSE(plan_.splits().empty());
  const size_t floats = static_cast<size_t>(attention.rows()) * 8 * 64;
  std::vector<float> first;
  for (int repeat = 0; repeat < 20; ++repeat) {
    attention.ClearOutput();
    Attention(3).Run(attention.call(), plan_);
    const std::vector<float> out(attention.call().out, attention.call().out + floats);
    if (first.empty()) first = out;
    ASSERT_EQ(out, first);
  }
  EXPECT_LT(attention.LargestError(1000, random_), kTolerance);
}

TEST_F(CpuAttentionTest, LargeScoresDoNotOverflow) {
  AttentionCaseSpec spec;
  spec.kv_type = KvType::kFp32;
  spec.sequences = {{400, 1}};
  AttentionCase attention(spec, normals_, random_);
  AttentionCall call = attention.call();
  call.scale = 100.0f;  // scores of several thousand
  plan_.Build(attention.sequences(), {1, 1, 2});
  Attention(2).Run(call, plan_);
  for (int i = 0; i < spec.head_dim; ++i) EXPECT_TRUE(std::isfinite(call.out[i]));
}

TEST_F(CpuAttentionTest, NothingToDoTouchesNothing) {
  AttentionCaseSpec spec;
  spec.sequences = {{10, 0}, {5, 0}};
  AttentionCase attention(spec, normals_, random_);
  plan_.Build(attention.sequences(), {1, 1, 2});
  Attention(2).Run(attention.call(), plan_);
  EXPECT_TRUE(attention.GuardsIntact());
  plan_.Build({}, {1, 1, 2});
  Attention(2).Run(attention.call(), plan_);
}

TEST(MergePartialRowTest, EmptyPiecesCountForNothing) {
  std::vector<float> out = {3.0f, 6.0f, 99.0f, 99.0f, 8.0f, 2.0f};
  std::vector<float> largest = {1.0f, -INFINITY, 1.0f};
  std::vector<float> sum = {2.0f, 0.0f, 2.0f};
  const AttentionPartials partials{out.data(), largest.data(), sum.data()};
  float merged[2];
  MergePartialRow(partials, 0, 1, 3, 2, merged);
  EXPECT_FLOAT_EQ(merged[0], 11.0f / 4);
  EXPECT_FLOAT_EQ(merged[1], 8.0f / 4);
}

TEST(MergePartialRowTest, AllEmptyGivesZero) {
  std::vector<float> out = {NAN, NAN};
  std::vector<float> largest = {-INFINITY, -INFINITY};
  std::vector<float> sum = {0.0f, 0.0f};
  const AttentionPartials partials{out.data(), largest.data(), sum.data()};
  float merged[1] = {5.0f};
  MergePartialRow(partials, 0, 1, 2, 1, merged);
  EXPECT_EQ(merged[0], 0.0f);
}

TEST(AttentionKvBytesTest, CountsEachContextOnceWhateverTheGroup) {
  AttentionCall call;
  call.num_heads = 32;
  call.num_kv_heads = 4;
  call.head_dim = 128;
  const std::vector<AttentionSequence> sequences = {
      {.num_queries = 1, .context = 10}, {.num_queries = 5, .context = 7}, {.context = 99}};
  call.sequences = sequences;
  EXPECT_EQ(AttentionKvBytes(call), 17 * 2 * 4 * 128 * 2);
  call.kv_type = KvType::kFp32;
  EXPECT_EQ(AttentionKvBytes(call), 17 * 2 * 4 * 128 * 4);
}

}  // namespace
}  // namespace kvbench
