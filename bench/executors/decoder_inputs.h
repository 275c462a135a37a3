#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"
#include "kernels/mix_bits.h"
#include "workloads/models/model_shape.h"

/// What the decoders of all machines have in common, so that they compute the same.
namespace kvbench {

constexpr float kNormEpsilon = 1e-5F;

/// Seeds of the dummy weights (kernels/dummy_weights.h).
enum class LayerPart : uint64_t { kQkv, kOutput, kGateUp, kDown };
constexpr uint64_t WeightSeed(int64_t layer, LayerPart part) {
  return static_cast<uint64_t>(4 * layer) + static_cast<uint64_t>(part);
}
constexpr uint64_t kLmHeadSeed = uint64_t{1} << 32;

/// Floats from -1 to 1, drawn one after the other.
class UniformFloats {
 public:
  explicit UniformFloats(const char* stream) : random_(0, stream) {}
  void Fill(std::span<float> values) {
    for (float& value : values) {
      value = static_cast<float>(2 * random_.Uniform() - 1);
    }
  }

 private:
  RandomStream random_;
};
/// Streams of the embedding [vocabulary, hidden] and of the noise [max tokens + kNoiseRows, QKV].
constexpr const char* kEmbeddingStream = "decoder embedding";
constexpr const char* kNoiseStream = "decoder noise";

/// Without dense layers Q, K and V are noise. A step starts somewhere else in it than the step
/// before, so that a sequence's keys differ.
constexpr int64_t kNoiseRows = 1024;
/// @param step counted from 1
constexpr int64_t FirstNoiseRow(uint64_t step) {
  return static_cast<int64_t>(MixBits(step) % kNoiseRows);
}

/// The token at a position of a request: output lengths come from the trace, so what a model would
/// say does not matter, but the same request must say the same in every design.
constexpr int64_t TokenId(int64_t request, int64_t position, int64_t vocab_size) {
  const uint64_t bits = MixBits(static_cast<uint64_t>(request) * 0x100000001b3 +
                                MixBits(static_cast<uint64_t>(position)));
  return static_cast<int64_t>(bits % static_cast<uint64_t>(vocab_size));
}

/// Elements of a token's Q, K and V side by side.
constexpr int64_t QkvWidth(const ModelShape& m) {
  return (m.num_attention_heads + 2 * m.num_key_value_heads) * m.head_dim;
}

}  // namespace kvbench
