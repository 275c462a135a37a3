#include "workloads/models/model_parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/quoting.h"

namespace kvbench {
namespace {

/// The parts of ModelParameters. A double counts first, so that an absurd shape is a sentence and
/// not an overflow.
template <typename Number>
struct Counts {
  Number divided = 0;
  Number experts = 0;
  Number key_value = 0;
  Number whole = 0;
};

template <typename Number>
class Counter {
 public:
  explicit Counter(const ModelShape& model)
      : model_(model), weights_(model.weights), hidden_(Number(model.hidden_size)) {}

  Counts<Number> Count() {
    CountAttention();
    CountFeedForward();
    CountNorms();
    CountEmbeddings();
    return counts_;
  }

 private:
  static Number If(bool condition, Number value) { return condition ? value : Number(0); }
  Number Norm(Number width) const { return weights_.norm_bias ? 2 * width : width; }

  void CountAttention() {
    const auto layers = Number(model_.num_hidden_layers);
    const auto heads = Number(model_.num_attention_heads);
    const auto head_dim = Number(model_.head_dim);
    if (model_.attention == Attention::kMLA) {
      CountLatentAttention(layers, heads, head_dim);
      return;
    }
    const Number query = heads * head_dim;
    const Number key_value = 2 * Number(model_.num_key_value_heads) * head_dim;
    counts_.divided += layers * 2 * hidden_ * query;  // query and output projection
    counts_.key_value += layers * hidden_ * key_value;
    counts_.whole +=
        layers * (If(weights_.qkv_bias, query + key_value) + If(weights_.output_bias, hidden_) +
                  If(weights_.qk_norm, 2 * head_dim) + If(weights_.attention_sinks, heads));
  }

  /// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): one latent for keys
  /// and values, optionally one for queries, each with a norm; up-projections split by heads.
  void CountLatentAttention(Number layers, Number heads, Number head_dim) {
    const auto latent = Number(model_.kv_lora_rank);
    const auto rope = Number(model_.qk_rope_head_dim);
    const auto rank = Number(weights_.q_lora_rank);
    const Number key = head_dim - rope;
    const Number value = weights_.v_head_dim > 0 ? Number(weights_.v_head_dim) : key;
    counts_.whole += layers * (hidden_ * (latent + rope) + latent + rank * (hidden_ + 1));
    counts_.divided +=
        layers * heads *
        ((rank > 0 ? rank : hidden_) * head_dim + latent * (key + value) + value * hidden_);
  }

  Number MlpMatrices(Number width) const { return (weights_.gated_mlp ? 3 : 2) * hidden_ * width; }
  Number MlpBiases(Number width) const {
    return If(weights_.mlp_bias, (weights_.gated_mlp ? 2 : 1) * width + hidden_);
  }

  void CountFeedForward() {
    const auto width = Number(model_.intermediate_size);
    const auto experts = Number(model_.num_experts);
    const auto dense_layers =
        Number(model_.num_experts == 0 ? model_.num_hidden_layers : weights_.num_dense_layers);
    const Number expert_layers = Number(model_.num_hidden_layers) - dense_layers;
    const Number expert_width =
        weights_.moe_intermediate_size > 0 ? Number(weights_.moe_intermediate_size) : width;
    counts_.divided += dense_layers * MlpMatrices(width);
    counts_.whole += dense_layers * MlpBiases(width);
    counts_.experts += expert_layers * experts * MlpMatrices(expert_width);
    counts_.divided += expert_layers * (experts * hidden_ +  // the router
                                        MlpMatrices(Number(weights_.shared_expert_size)));
    counts_.whole +=
        expert_layers * (experts * MlpBiases(expert_width) + If(weights_.mlp_bias, experts));
  }

  void CountNorms() {
    const auto norms =
        Number(model_.num_hidden_layers * weights_.norms_per_layer + 1 + weights_.embedding_norm);
    counts_.whole += norms * Norm(hidden_);
  }

  void CountEmbeddings() {
    const auto vocabulary = Number(model_.vocab_size);
    counts_.divided += (weights_.tied_embedding ? 1 : 2) * vocabulary * hidden_;
    counts_.whole += If(weights_.head_bias, vocabulary);
    if (weights_.extra_position_rows >= 0) {
      counts_.whole +=
          Number(model_.max_position_embeddings + weights_.extra_position_rows) * hidden_;
    }
  }

  const ModelShape& model_;
  const WeightShape& weights_;
  Number hidden_;
  Counts<Number> counts_;
};

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

ModelParameters CountParameters(const ModelShape& model) {
  const Counts<double> rough = Counter<double>(model).Count();
  if (rough.divided + rough.experts + rough.key_value + rough.whole > 1e15) {
    throw Error(
        fmt::format("model {} has more than 10^15 parameters; is a size in its description wrong?",
                    Quoted(model.name)));
  }
  const Counts<int64_t> counts = Counter<int64_t>(model).Count();
  return {counts.divided, counts.experts, counts.key_value, counts.whole};
}

int64_t ParametersPerDevice(const ModelShape& model, int64_t tensor_parallel) {
  const ModelParameters parameters = CountParameters(model);
  const int64_t key_value_parts = std::min(tensor_parallel, model.num_key_value_heads);
  return CeilDivide(parameters.divided, tensor_parallel) +
         CeilDivide(parameters.experts, tensor_parallel) +
         CeilDivide(parameters.key_value, key_value_parts) + parameters.whole;
}

double ExpectedExpertShare(const ModelShape& model, int64_t tokens) {
  const int64_t picked = model.weights.num_experts_per_tok;
  if (model.num_experts == 0 || picked == 0) {
    return 1;
  }
  return ExpertShare(1 - static_cast<double>(picked) / static_cast<double>(model.num_experts),
                     tokens);
}

double ExpertShare(double left_out, int64_t tokens) {
  double by_all = 1;
  for (; tokens > 0; tokens /= 2) {
    by_all *= tokens % 2 == 1 ? left_out : 1;
    left_out *= left_out;
  }
  return 1 - by_all;
}

}  // namespace kvbench
