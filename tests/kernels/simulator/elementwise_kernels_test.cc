#include <cmath>

#include "kernels/cpu/elementwise.h"
#include "kernels/cuda/elementwise_params.h"
#include "kernels/cuda/rms_norm_params.h"
#include "kernels/cuda/rope_params.h"
#include "tests/kernels/simulator/kernel_runner.h"

namespace kvbench {
namespace {

class ElementwiseKernelsTest : public testing::Test {
 protected:
  /// A value of a 16-bit type is the nearest to what it should be, but for a last bit of fp32.
  static void ExpectRounded(const HalfType& type, uint16_t actual, double expected) {
    const double allowed = 1.01 * type.rounding * std::abs(expected) + 0x1p-24;
    ASSERT_NEAR(static_cast<double>(type.to_float(actual)), expected, allowed) << type.name;
  }

  std::mt19937 random_{5};
  ThreadPool pool_{1};
  KernelRunner runner_;
};

double At(const std::vector<float>& values, int64_t i) {
  return static_cast<double>(values[static_cast<size_t>(i)]);
}

TEST_F(ElementwiseKernelsTest, RopeAsOnTheCpu) {
  constexpr int32_t kPositions = 300;
  constexpr int64_t kRows = 3;
  struct Shape {
    int32_t heads, head_dim;
  };
  for (const Shape& shape : {Shape{1, 8}, {3, 64}, {2, 80}, {5, 128}, {2, 256}}) {
    SCOPED_TRACE(testing::Message() << shape.heads << " x " << shape.head_dim);
    const RopeTable table(shape.head_dim, kPositions);
    const int64_t table_floats = int64_t{kPositions} * shape.head_dim / 2;
    const int64_t row_stride = int64_t{shape.heads} * shape.head_dim + 24;  // V's stay as they are
    const std::vector<float> before = NormalFloats(kRows * row_stride, random_);
    const std::vector<int32_t> positions = {0, static_cast<int32_t>(random_() % kPositions),
                                            kPositions - 1};
    std::vector<float> expected = before;
    ApplyRope(pool_, table, expected.data(), kRows, shape.heads, row_stride, positions.data());

    const auto x = runner_.Allocate<float>(kRows * row_stride, "rows");
    const float* const cosines = table.cosines(0);
    const float* const sines = table.sines(0);
    const RopeParams params{
        .x = x,
        .row_stride = row_stride,
        .positions = runner_.Upload(positions, "positions"),
        .cosines = runner_.Upload(std::vector<float>(cosines, cosines + table_floats), "cosines"),
        .sines = runner_.Upload(std::vector<float>(sines, sines + table_floats), "sines"),
        .heads = shape.heads,
        .head_dim = shape.head_dim};
    const AccessLog log = runner_.ForEachSchedule([&](const SimulatorOptions& options) {
      runner_.Write(x, before);
      runner_.Launch("rope", params, {kRows, 1, 1}, options);
      const std::vector<float> actual = runner_.Read(x, kRows * row_stride);
      for (int64_t i = 0; i < kRows * row_stride; ++i) {
        if (i % row_stride >= int64_t{shape.heads} * shape.head_dim) {
          ASSERT_EQ(At(actual, i), At(before, i)) << i;
        } else {
          ASSERT_NEAR(At(actual, i), At(expected, i), 1e-6) << i;
        }
      }
    });
    EXPECT_EQ(BytesOf(log, AccessLog::Kind::kGlobalStore),
              kRows * shape.heads * shape.head_dim * 4);
    if (shape.head_dim % 16 == 0) ExpectWholeSectors(log);
  }
}

TEST_F(ElementwiseKernelsTest, RmsNorm) {
  constexpr int64_t kRows = 4;
  constexpr float kEpsilon = 1e-5f;
  int count = 0;
  for (const int32_t dim : {8, 64, 1000, 1024, 2056}) {
    for (const bool add : {false, true}) {
      for (const bool gather : {false, true}) {
        const HalfType& type = kHalfTypes[count++ / 2 % 2];
        SCOPED_TRACE(testing::Message() << dim << type.name << add << gather);
        const std::vector<int32_t> indices =
            gather ? std::vector<int32_t>{2, 0, 3} : std::vector<int32_t>{0, 1, 2, 3};
        const std::vector<float> before = NormalFloats(kRows * dim, random_);
        const std::vector<float> projected = NormalFloats(kRows * dim, random_);
        const std::vector<float> weight = NormalFloats(dim, random_);
        std::vector<float> hidden_after = before;
        std::vector<double> expected;
        for (const int32_t row : indices) {
          double squares = 0;
          for (int64_t i = row * dim; i < (row + 1) * dim; ++i) {
            if (add) hidden_after[static_cast<size_t>(i)] += projected[static_cast<size_t>(i)];
            squares += At(hidden_after, i) * At(hidden_after, i);
          }
          const double factor = 1 / std::sqrt(squares / dim + static_cast<double>(kEpsilon));
          for (int64_t i = 0; i < dim; ++i) {
            expected.push_back(At(hidden_after, row * dim + i) * factor * At(weight, i));
          }
        }
        const auto hidden = runner_.Allocate<float>(kRows * dim, "hidden");
        const auto out_count = static_cast<int64_t>(expected.size());
        const auto out = runner_.Allocate<uint16_t>(out_count, "out");
        RmsNormParams params{.hidden = hidden,
                             .projected = {},
                             .weight = runner_.Upload(weight, "weight"),
                             .indices = {},
                             .out = out.address,
                             .dim = dim,
                             .epsilon = kEpsilon};
        if (add) params.projected = runner_.Upload(projected, "projected");
        if (gather) params.indices = runner_.Upload(indices, "indices");
        const AccessLog log = runner_.ForEachSchedule([&](const SimulatorOptions& options) {
          runner_.Write(hidden, before);
          std::fill_n(out.address, out_count, 0xffff);
          runner_.Launch((add ? std::string("add_rms_norm/") : "rms_norm/") + type.name, params,
                         {static_cast<int>(indices.size()), 1, 1}, options, kRmsNormSharedBytes);
          ASSERT_EQ(runner_.Read(hidden, kRows * dim), hidden_after);
          for (int64_t i = 0; i < out_count; ++i) {
            ExpectRounded(type, out.address[i], expected[static_cast<size_t>(i)]);
          }
        });
        if (dim % 16 == 0) ExpectWholeSectors(log);
      }
    }
  }
}

TEST_F(ElementwiseKernelsTest, SiluMul) {
  constexpr int64_t kRows = 2;
  for (const HalfType& type : kHalfTypes) {
    for (const int32_t dim : {8, 1024, 1408}) {
      std::vector<float> gate_up = NormalFloats(kRows * 2 * dim, random_);
      const float extremes[] = {80.0f, -80.0f, 100.0f, -100.0f};  // past exp's range, too
      std::copy(std::begin(extremes), std::end(extremes), gate_up.begin());
      const auto out = runner_.Allocate<uint16_t>(kRows * dim, "out");
      const SiluMulParams params{
          .gate_up = runner_.Upload(gate_up, "gate_up"), .out = out.address, .dim = dim};
      const AccessLog log = runner_.ForEachSchedule([&](const SimulatorOptions& options) {
        std::fill_n(out.address, kRows * dim, 0xffff);
        runner_.Launch(std::string("silu_mul/") + type.name, params, {kRows, Pieces(dim), 1},
                       options);
        for (int64_t i = 0; i < kRows * dim; ++i) {
          const int64_t at = i / dim * 2 * dim + i % dim;
          const double gate = At(gate_up, at);
          ExpectRounded(type, out.address[i], gate / (1 + std::exp(-gate)) * At(gate_up, at + dim));
        }
      });
      if (dim % 16 == 0) ExpectWholeSectors(log);
    }
  }
}

TEST_F(ElementwiseKernelsTest, ConvertRoundsToNearestEven) {
  for (const HalfType& type : kHalfTypes) {
    for (const int64_t count : {4, 1024, 3000}) {
      const std::vector<float> in = NormalFloats(count, random_);
      std::vector<uint16_t> expected;
      for (const float value : in) expected.push_back(type.from_float(value));
      const auto out = runner_.Allocate<uint16_t>(count, "out");
      const ConvertParams params{
          .in = runner_.Upload(in, "in"), .out = out.address, .count = count};
      const AccessLog log = runner_.ForEachSchedule([&](const SimulatorOptions& options) {
        std::fill_n(out.address, count, 0xffff);
        runner_.Launch(std::string("convert/") + type.name, params, {Pieces(count), 1, 1}, options);
        ASSERT_EQ(runner_.Read(out, count), expected);
      });
      ExpectWholeSectors(log);
    }
  }
}

TEST_F(ElementwiseKernelsTest, Embed) {
  constexpr int32_t kVocabulary = 20;
  const std::vector<int32_t> tokens = {19, 0, 7, 7};
  const auto rows = static_cast<int64_t>(tokens.size());
  for (const int32_t dim : {8, 1032}) {
    const std::vector<float> table = NormalFloats(int64_t{kVocabulary} * dim, random_);
    std::vector<float> expected;
    for (const int32_t token : tokens) {
      expected.insert(expected.end(), table.begin() + token * dim,
                      table.begin() + (token + 1) * dim);
    }
    const auto hidden = runner_.Allocate<float>(rows * dim, "hidden");
    const EmbedParams params{.tokens = runner_.Upload(tokens, "tokens"),
                             .table = runner_.Upload(table, "table"),
                             .hidden = hidden,
                             .dim = dim};
    const AccessLog log = runner_.ForEachSchedule([&](const SimulatorOptions& options) {
      std::fill_n(hidden.address, rows * dim, 0.0f);
      runner_.Launch("embed", params, {static_cast<int>(rows), Pieces(dim), 1}, options);
      ASSERT_EQ(runner_.Read(hidden, rows * dim), expected);
    });
    ExpectWholeSectors(log);
  }
}

}  // namespace
}  // namespace kvbench
