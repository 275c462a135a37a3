#include <string>
#include <vector>

#include "kernels/checks/kernel_check.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cuda/dummy_weights_params.h"
#include "kernels/cuda/elementwise_params.h"
#include "kernels/cuda/kernel_names.h"
#include "kernels/cuda/rms_norm_params.h"
#include "kernels/cuda/rope_params.h"
#include "kernels/dummy_weights.h"
#include "kernels/float16.h"

namespace kvbench {

namespace {

/// The largest difference, in units of what rounding to the type allows: right up to 1. A GPU's
/// exp2 and rsqrt are good for a few last bits of a float, which a rounding to 16 bits hides but
/// near a tie.
double RoundedError(const std::vector<uint16_t>& actual, const std::vector<double>& expected,
                    bool bf16) {
  const double half = bf16 ? 0x1p-8 : 0x1p-11;  // of a last place of 1
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const float value = bf16 ? Bf16ToFloat(actual[i]) : Fp16ToFloat(actual[i]);
    const double error = std::abs(static_cast<double>(value) - expected[i]) /
                         (1.01 * half * std::abs(expected[i]) + 0x1p-24);
    if (!(error <= largest)) {
      largest = error;  // keeps NaN
    }
  }
  return actual.size() == expected.size() ? largest : std::numeric_limits<double>::infinity();
}

double At(const std::vector<float>& values, size_t i) { return static_cast<double>(values[i]); }

double RopeError(Device& device) {
  constexpr int32_t kHeads = 5;
  constexpr int32_t kHeadDim = 128;
  constexpr int32_t kPositions = 300;
  constexpr int64_t kRowStride = kHeads * kHeadDim + 24;
  std::mt19937 random(4);
  const std::vector<int32_t> positions = {0, 171, kPositions - 1};
  const auto rows = static_cast<int64_t>(positions.size());
  const RopeTable table(kHeadDim, kPositions);
  const std::vector<float> before = NormalNumbers(rows * kRowStride, random);
  std::vector<float> expected = before;
  ThreadPool pool(1);
  ApplyRope(pool, table, expected.data(), rows, kHeads, kRowStride, positions.data());
  constexpr int64_t kTableFloats = kPositions * kHeadDim / 2;
  const DeviceArray<float> x = Uploaded(device, before, "rows");
  const DeviceArray<int32_t> at = Uploaded(device, positions, "positions");
  const DeviceArray<float> cosines = Uploaded(
      device, std::vector<float>(table.cosines(0), table.cosines(0) + kTableFloats), "cosines");
  const DeviceArray<float> sines =
      Uploaded(device, std::vector<float>(table.sines(0), table.sines(0) + kTableFloats), "sines");
  Launch(device, device.kernel("rope"), {{static_cast<int32_t>(rows), 1, 1}, 0},
         RopeParams{.x = x.global(),
                    .row_stride = kRowStride,
                    .positions = at.global(),
                    .cosines = cosines.global(),
                    .sines = sines.global(),
                    .heads = kHeads,
                    .head_dim = kHeadDim});
  const std::vector<float> actual = Downloaded(x);
  double largest = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double error = std::abs(At(actual, i) - At(expected, i));
    if (!(error <= largest)) {
      largest = error;
    }
  }
  return largest;
}

double RmsNormError(Device& device, bool bf16, bool add) {
  constexpr int32_t kDim = 1032;
  constexpr float kEpsilon = 1e-5f;
  std::mt19937 random(5);
  const std::vector<int32_t> indices = {2, 0, 3};
  const std::vector<float> before = NormalNumbers(4 * kDim, random);
  const std::vector<float> projected = NormalNumbers(4 * kDim, random);
  const std::vector<float> weight = NormalNumbers(kDim, random);
  std::vector<float> after = before;
  std::vector<double> expected;
  for (const int32_t row : indices) {
    const auto first = static_cast<size_t>(row) * kDim;
    double squares = 0;
    for (size_t i = first; i < first + kDim; ++i) {
      after[i] += add ? projected[i] : 0.0f;
      squares += At(after, i) * At(after, i);
    }
    const double factor = 1 / std::sqrt(squares / kDim + static_cast<double>(kEpsilon));
    for (size_t i = 0; i < kDim; ++i) {
      expected.push_back(At(after, first + i) * factor * At(weight, i));
    }
  }
  const DeviceArray<float> hidden = Uploaded(device, before, "hidden");
  const DeviceArray<float> added = Uploaded(device, projected, "projected");
  const DeviceArray<float> weights = Uploaded(device, weight, "weight");
  const DeviceArray<int32_t> rows = Uploaded(device, indices, "indices");
  const DeviceArray<uint16_t> out(device, static_cast<int64_t>(expected.size()), "out");
  RmsNormParams params{.hidden = hidden.global(),
                       .projected = {},
                       .weight = weights.global(),
                       .indices = rows.global(),
                       .out = out.data(),
                       .dim = kDim,
                       .epsilon = kEpsilon};
  if (add) {
    params.projected = added.global();
  }
  Launch(device,
         device.kernel(std::string(add ? "add_rms_norm/" : "rms_norm/") + (bf16 ? "bf16" : "fp16")),
         {{static_cast<int32_t>(indices.size()), 1, 1}, kRmsNormSharedBytes}, params);
  return Differing(Downloaded(hidden), after) + RoundedError(Downloaded(out), expected, bf16);
}

double SiluMulError(Device& device, bool bf16) {
  constexpr size_t kDim = 1408;
  std::mt19937 random(6);
  std::vector<float> gate_up = NormalNumbers(2 * kDim, random);
  gate_up[0] = 100.0f;  // past exp's range
  gate_up[1] = -100.0f;
  std::vector<double> expected;
  for (size_t i = 0; i < kDim; ++i) {
    expected.push_back(At(gate_up, i) / (1 + std::exp(-At(gate_up, i))) * At(gate_up, kDim + i));
  }
  const DeviceArray<float> in = Uploaded(device, gate_up, "gate and up");
  const DeviceArray<uint16_t> out(device, kDim, "out");
  Launch(device, device.kernel(bf16 ? "silu_mul/bf16" : "silu_mul/fp16"), {{1, Pieces(kDim), 1}, 0},
         SiluMulParams{.gate_up = in.global(), .out = out.data(), .dim = kDim});
  return RoundedError(Downloaded(out), expected, bf16);
}

double ConvertError(Device& device, bool bf16) {
  constexpr int64_t kCount = 3000;
  std::mt19937 random(7);
  const std::vector<float> numbers = NormalNumbers(kCount, random);
  std::vector<uint16_t> expected;
  expected.reserve(numbers.size());
  for (const float number : numbers) {
    expected.push_back(bf16 ? FloatToBf16(number) : FloatToFp16(number));
  }
  const DeviceArray<float> in = Uploaded(device, numbers, "in");
  const DeviceArray<uint16_t> out(device, kCount, "out");
  Launch(device, device.kernel(bf16 ? "convert/bf16" : "convert/fp16"), {{Pieces(kCount), 1, 1}, 0},
         ConvertParams{.in = in.global(), .out = out.data(), .count = kCount});
  return Differing(Downloaded(out), expected);
}

double EmbedError(Device& device) {
  constexpr int32_t kDim = 1032;
  std::mt19937 random(8);
  const std::vector<int32_t> tokens = {19, 0, 7, 7};
  const std::vector<float> table = NormalNumbers(20 * kDim, random);
  std::vector<float> expected;
  for (const int32_t token : tokens) {
    expected.insert(expected.end(), table.begin() + token * kDim,
                    table.begin() + (token + 1) * kDim);
  }
  const DeviceArray<int32_t> rows = Uploaded(device, tokens, "tokens");
  const DeviceArray<float> embeddings = Uploaded(device, table, "table");
  const DeviceArray<float> hidden(device, static_cast<int64_t>(expected.size()), "hidden");
  Launch(device, device.kernel("embed"),
         {{static_cast<int32_t>(tokens.size()), Pieces(kDim), 1}, 0},
         EmbedParams{.tokens = rows.global(),
                     .table = embeddings.global(),
                     .hidden = hidden.global(),
                     .dim = kDim});
  return Differing(Downloaded(hidden), expected);
}

double DummyWeightsError(Device& device, bool bf16) {
  constexpr int64_t kCount = 3000;
  constexpr uint64_t kSeed = 9;
  const float range = DummyWeightRange(60);
  std::vector<uint16_t> expected;
  for (uint64_t i = 0; i < kCount; ++i) {
    const float weight = DummyWeight(kSeed, i, range);
    expected.push_back(bf16 ? FloatToBf16(weight) : FloatToFp16(weight));
  }
  const DeviceArray<uint16_t> out(device, kCount, "weights");
  Launch(device, device.kernel(bf16 ? "dummy_weights/bf16" : "dummy_weights/fp16"),
         {{Pieces(kCount), 1, 1}, 0},
         DummyWeightsParams{.out = out.data(), .count = kCount, .seed = kSeed, .range = range});
  return Differing(Downloaded(out), expected);
}

}  // namespace

std::vector<KernelCheck> ElementwiseChecks() {
  std::vector<KernelCheck> checks = {{"rope", 2e-6, RopeError}, {"embed", 0, EmbedError}};
  for (const bool bf16 : {false, true}) {
    const std::string type = bf16 ? "bf16" : "fp16";
    checks.push_back(
        {"convert/" + type, 0, [=](Device& device) { return ConvertError(device, bf16); }});
    checks.push_back({"dummy_weights/" + type, 0,
                      [=](Device& device) { return DummyWeightsError(device, bf16); }});
    checks.push_back(
        {"silu_mul/" + type, 1, [=](Device& device) { return SiluMulError(device, bf16); }});
    for (const bool add : {false, true}) {
      checks.push_back({(add ? "add_rms_norm/" : "rms_norm/") + type, 1,
                        [=](Device& device) { return RmsNormError(device, bf16, add); }});
    }
  }
  return checks;
}

}  // namespace kvbench
