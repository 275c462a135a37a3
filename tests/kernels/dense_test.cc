#include "kernels/cpu/dense.h"

#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/float16.h"
#include "tests/kernels/targets_for_test.h"

namespace kvbench {
namespace {

struct Shape {
  int64_t in, out;
};

std::vector<float> Uniform(size_t count, std::mt19937& random) {
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> result(count);
  for (float& value : result) value = values(random);
  return result;
}

void ExpectMatches(ThreadPool& pool, Shape shape, int64_t rows, WeightType type,
                   std::mt19937& random) {
  auto weights = Uniform(static_cast<size_t>(shape.in * shape.out), random);
  const auto x = Uniform(static_cast<size_t>(rows * shape.in), random);
  const DenseLayer layer(shape.in, shape.out, weights, type);
  EXPECT_EQ(layer.weight_bytes(), shape.in * shape.out * WeightBytes(type));
  if (type == WeightType::kBf16) {
    for (float& weight : weights) weight = Bf16ToFloat(FloatToBf16(weight));
  }
  constexpr float kGuard = 77.0f;
  std::vector<float> y(static_cast<size_t>((rows + 1) * shape.out), kGuard);
  layer.Run(pool, x.data(), rows, y.data());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < shape.out; ++o) {
      double sum = 0;
      for (int64_t i = 0; i < shape.in; ++i) {
        sum += static_cast<double>(x[static_cast<size_t>(r * shape.in + i)]) *
               static_cast<double>(weights[static_cast<size_t>(o * shape.in + i)]);
      }
      ASSERT_NEAR(static_cast<double>(y[static_cast<size_t>(r * shape.out + o)]), sum, 1e-4)
          << "rows " << rows << " in " << shape.in << " out " << shape.out << " at " << r << ", "
          << o;
    }
  }
  for (int64_t o = 0; o < shape.out; ++o) {
    ASSERT_EQ(y[static_cast<size_t>(rows * shape.out + o)], kGuard);
  }
}

TEST(DenseLayerTest, MatchesDoubleSumsForAnyShapeThreadsAndInstructionSet) {
  std::mt19937 random(1);
  for (const int64_t target : RunnableTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const ScopedTarget scoped(target);
    for (const int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      for (const Shape shape : {Shape{64, 64}, Shape{300, 48}, Shape{7, 5}, Shape{513, 33}}) {
        for (const int64_t rows : {1, 2, 3, 5, 6, 7, 13, 32, 200}) {
          if (rows == 200 && threads > 1) continue;
          ExpectMatches(pool, shape, rows, WeightType::kFp32, random);
          ExpectMatches(pool, shape, rows, WeightType::kBf16, random);
        }
      }
    }
  }
}

TEST(DenseLayerTest, DummyWeightsKeepTheVarianceAndDependOnTheSeedAlone) {
  ThreadPool pool(1);
  const DenseLayer layer(256, 200, uint64_t{5});
  const DenseLayer same(256, 200, uint64_t{5});
  const DenseLayer other(256, 200, uint64_t{6});
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  std::vector<float> x(256);
  for (float& value : x) value = normal(random);
  std::vector<float> y(200), y_same(200), y_other(200);
  layer.Run(pool, x.data(), 1, y.data());
  same.Run(pool, x.data(), 1, y_same.data());
  other.Run(pool, x.data(), 1, y_other.data());
  EXPECT_EQ(y, y_same);
  EXPECT_NE(y, y_other);
  double squares = 0;
  for (const float value : y) squares += static_cast<double>(value) * static_cast<double>(value);
  EXPECT_NEAR(std::sqrt(squares / 200), 1.0, 0.25);
  EXPECT_EQ(layer.weight_bytes(), 256 * 200 * 4);
}

}  // namespace
}  // namespace kvbench
