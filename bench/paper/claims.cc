// What is said in words about KV caches and vLLM, as numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/paper/figures.h"
#include "workloads/models/model_parameters.h"
#include "workloads/models/model_shape.h"

namespace kvbench {

namespace {

constexpr double kGiB = 1 << 30;

/// The folk formula for the KV cache of MHA in 16 bits: 2 (K and V) x 2 B x batch x tokens x
/// layers x hidden size.
double FormulaBytes(const ModelShape& model, double batch, double tokens) {
  return 2 * 2 * batch * tokens * static_cast<double>(model.num_hidden_layers * model.hidden_size);
}

double KvBytes(const ModelShape& model, int64_t batch, int64_t tokens) {
  return static_cast<double>(KvBytesPerToken(model, Dtype::kFp16) * batch * tokens);
}

/// KV bytes of a token by those of the same shape with a KV head for each query head.
double ShareOfMha(const ModelShape& model) {
  ModelShape mha = model;
  mha.num_key_value_heads = model.num_attention_heads;
  return KvBytes(model, 1, 1) / KvBytes(mha, 1, 1);
}

void AddSizes(PaperValues& samples) {
  double error = 0;
  for (const ModelShape& model : BuiltInModels()) {
    if (model.attention == Attention::kMHA &&
        model.num_attention_heads * model.head_dim == model.hidden_size) {
      error = std::max(error, std::abs(KvBytes(model, 3, 1000) / FormulaBytes(model, 3, 1000) - 1));
    }
  }
  samples["2 x 2 x b x s x l x d: largest error, MHA models, %"] = {100 * error};
  const ModelShape llama = LoadModel("llama-2-7b");
  samples["weights of LLaMA-2-7B in 16 bits, GB"] = {
      static_cast<double>(CountParameters(llama).total()) * 2 / 1e9};
  samples["KV of LLaMA-2-7B, 4,096 tokens, batch 1, GiB"] = {KvBytes(llama, 1, 4096) / kGiB};
  samples["KV of LLaMA-2-7B, 4,096 tokens, batch 32, GiB"] = {KvBytes(llama, 32, 4096) / kGiB};
  for (const char* name : {"llama-3-8b", "llama-3-70b", "mistral-7b-v0.1"}) {
    samples[fmt::format("GQA: KV of {} by that of MHA", name)] = {ShareOfMha(LoadModel(name))};
  }
  for (const char* name : {"falcon-7b", "starcoder-15b"}) {
    const ModelShape model = LoadModel(name);
    samples[fmt::format("MQA: KV of {} by that of MHA, x heads", name)] = {
        ShareOfMha(model) * static_cast<double>(model.num_attention_heads)};
  }
}

void AddWaste(PaperRunner& runner, PaperValues& samples) {
  for (const PaperRun& run : runner.Suite("paper/fig2")) {
    const KvStats& kv = run.record.kv;
    samples[fmt::format("waste of {}, % of capacity", run.spec.design)].push_back(
        100 * kv.waste_of_capacity.value());
    samples[fmt::format("waste of {}, % of allocated", run.spec.design)].push_back(
        100 * kv.waste_of_allocated.value());
  }
}

/// Per seed, what `paged` has of a figure by what the other scheduler has.
class Ratios {
 public:
  void Add(const std::string& name, const RunSpec& spec, double value) {
    const bool paged = spec.design == "paged";
    values_[name][paged ? 1 : 0].push_back(value);
  }
  void Write(PaperValues& samples) const {
    for (const auto& [name, pair] : values_) {
      for (size_t seed = 0; seed < pair[0].size(); ++seed) {
        samples[name].push_back(pair[1].at(seed) / pair[0][seed]);
      }
    }
  }

 private:
  std::map<std::string, std::array<std::vector<double>, 2>> values_;
};

void AddHuggingFace(PaperRunner& runner, PaperValues& samples) {
  Ratios ratios;
  for (const PaperRun& run : runner.Suite("paper/hf")) {
    if (run.spec.find_rate.kind == RateGoal::Kind::kNone) {
      ratios.Add("x HF, saturated output: " + run.spec.model, run.spec,
                 run.record.while_waiting.value().output_throughput.value());
    } else {
      ratios.Add("x HF, rate at 0.5 s/token: " + run.spec.model, run.spec,
                 run.record.trace.request_rate.value());
    }
  }
  ratios.Write(samples);
}

void AddFasterTransformer(PaperRunner& runner, PaperValues& samples) {
  Ratios ratios;
  for (const PaperRun& run : runner.Suite("paper/ft")) {
    ratios.Add(fmt::format("x FasterTransformer, rate at {} s/token: {}",
                           run.spec.find_rate.s_per_token, run.spec.model),
               run.spec, run.record.trace.request_rate.value());
  }
  PaperValues found;
  ratios.Write(found);
  double largest = 0;
  for (const auto& [name, values] : found) {
    double sum = 0;
    for (const double value : values) {
      sum += value;
    }
    if (name.find(" 0.5 s/token") != std::string::npos) {
      largest = std::max(largest, sum / static_cast<double>(values.size()));
    }
  }
  samples["x FasterTransformer at 0.5 s/token, the most"] = {largest};
  samples.merge(found);
}

}  // namespace

PaperValues MeasureClaims(PaperRunner& runner) {
  PaperValues samples;
  AddSizes(samples);
  AddWaste(runner, samples);
  AddHuggingFace(runner, samples);
  AddFasterTransformer(runner, samples);
  return samples;
}

}  // namespace kvbench
