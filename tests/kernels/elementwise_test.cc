#include "kernels/cpu/elementwise.h"

#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/targets_for_test.h"

namespace kvbench {
namespace {

// Runs every test on each instruction set, with one thread and with three.
class ElementwiseTest : public testing::TestWithParam<int> {
 protected:
  std::vector<float> Normal(int64_t count) {
    std::normal_distribution<float> normal;
    std::vector<float> result(static_cast<size_t>(count));
    for (float& value : result) value = normal(random_);
    return result;
  }

  template <typename Body>
  void ForEachTarget(const Body& body) {
    for (const int64_t target : RunnableTargets()) {
      SCOPED_TRACE(hwy::TargetName(target));
      const ScopedTarget scoped(target);
      body();
    }
  }

  std::mt19937 random_{3};
  ThreadPool pool_{GetParam()};
};

double At(const std::vector<float>& values, int64_t i) {
  return static_cast<double>(values[static_cast<size_t>(i)]);
}

TEST_P(ElementwiseTest, RmsNorm) {
  ForEachTarget([&] {
    for (const int64_t dim : {1, 7, 64, 512, 1001}) {
      for (const int64_t rows : {1, 3, 40}) {
        const auto x = Normal(rows * dim);
        const auto weight = Normal(dim);
        std::vector<float> out(x.size());
        RmsNorm(pool_, x.data(), weight.data(), rows, dim, 1e-5f, out.data());
        for (int64_t r = 0; r < rows; ++r) {
          double squares = 0;
          for (int64_t i = 0; i < dim; ++i) squares += At(x, r * dim + i) * At(x, r * dim + i);
          const double factor = 1 / std::sqrt(squares / static_cast<double>(dim) + 1e-5);
          for (int64_t i = 0; i < dim; ++i) {
            const double expected = At(x, r * dim + i) * factor * At(weight, i);
            ASSERT_NEAR(At(out, r * dim + i), expected, 1e-5 * (1 + std::abs(expected)));
          }
        }
      }
    }
  });
}

TEST_P(ElementwiseTest, RmsNormInPlace) {
  auto x = Normal(2 * 64);
  const auto weight = Normal(64);
  std::vector<float> out(x.size());
  RmsNorm(pool_, x.data(), weight.data(), 2, 64, 1e-5f, out.data());
  RmsNorm(pool_, x.data(), weight.data(), 2, 64, 1e-5f, x.data());
  EXPECT_EQ(x, out);
}

TEST_P(ElementwiseTest, RopeRotatesPairsOfHalves) {
  constexpr int32_t kPositions = 3000;
  for (const int32_t dim : {64, 80, 128, 6}) {
    const RopeTable table(dim, kPositions);
    ForEachTarget([&] {
      constexpr int64_t kRows = 33;
      constexpr int32_t kHeads = 3;
      const int64_t stride = kHeads * dim + 5;  // gaps must stay as they are
      const auto before = Normal(kRows * stride);
      auto x = before;
      std::vector<int32_t> positions;
      for (int64_t r = 0; r < kRows; ++r) {
        positions.push_back(static_cast<int32_t>(random_() % kPositions));
      }
      ApplyRope(pool_, table, x.data(), kRows, kHeads, stride, positions.data());
      for (int64_t r = 0; r < kRows; ++r) {
        for (int64_t i = 0; i < stride; ++i) {
          const int64_t at = r * stride + i;
          double expected = At(before, at);
          if (i < kHeads * dim) {
            const int64_t pair = i % dim % (dim / 2);
            const double angle = positions[static_cast<size_t>(r)] *
                                 std::pow(10000.0, -2.0 * static_cast<double>(pair) / dim);
            const bool first = i % dim < dim / 2;
            const double other = At(before, first ? at + dim / 2 : at - dim / 2);
            expected = expected * std::cos(angle) + (first ? -other : other) * std::sin(angle);
          }
          ASSERT_NEAR(At(x, at), expected, 2e-6 * (1 + std::abs(expected))) << dim << " " << i;
        }
      }
    });
  }
}

TEST_P(ElementwiseTest, SiluMul) {
  ForEachTarget([&] {
    for (const int64_t dim : {1, 9, 64, 1408}) {
      constexpr int64_t kRows = 5;
      auto gate_up = Normal(kRows * 2 * dim);
      gate_up[0] = 80.0f;  // exp(-80) and exp(80) at the ends
      gate_up[static_cast<size_t>(2 * dim)] = -80.0f;
      std::vector<float> out(static_cast<size_t>(kRows * dim));
      SiluMul(pool_, gate_up.data(), kRows, dim, out.data());
      for (int64_t r = 0; r < kRows; ++r) {
        for (int64_t i = 0; i < dim; ++i) {
          const double gate = At(gate_up, r * 2 * dim + i);
          const double expected = gate / (1 + std::exp(-gate)) * At(gate_up, r * 2 * dim + dim + i);
          ASSERT_NEAR(At(out, r * dim + i), expected, 2e-6 * (1 + std::abs(expected)));
        }
      }
    }
  });
}

TEST_P(ElementwiseTest, AddInPlace) {
  ForEachTarget([&] {
    for (const int64_t count : {0, 1, 15, 64, 30001}) {
      const auto before = Normal(count);
      const auto y = Normal(count);
      auto x = before;
      AddInPlace(pool_, x.data(), y.data(), count);
      for (int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(x[static_cast<size_t>(i)],
                  before[static_cast<size_t>(i)] + y[static_cast<size_t>(i)]);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Threads, ElementwiseTest, testing::Values(1, 3));

}  // namespace
}  // namespace kvbench
