#include "workloads/traces/lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/number_text.h"
#include "base/portable_math.h"
#include "workloads/embedded_data.h"
#include "workloads/traces/spec_string.h"
#include "workloads/traces/trace_reader.h"

namespace kvbench {
namespace {

/// One side of a request before caps and rounding, in tokens at full scale.
class LengthSource {
 public:
  virtual ~LengthSource() = default;
  virtual double Draw(RandomStream& random) const = 0;
  /// The smallest length it can give after rounding.
  virtual double shortest() const = 0;
};

class UniformLength : public LengthSource {
 public:
  UniformLength(int64_t first, int64_t last) : first_(first), last_(last) {}
  double Draw(RandomStream& random) const override {
    return static_cast<double>(
        first_ + static_cast<int64_t>(random.Below(static_cast<uint64_t>(last_ - first_ + 1))));
  }
  double shortest() const override { return static_cast<double>(first_); }

 private:
  int64_t first_, last_;
};

class LognormalLength : public LengthSource {
 public:
  /// Mean and standard deviation of the lengths, not of their logarithms.
  LognormalLength(double mean, double sd) {
    const double ratio = sd / mean;
    const double variance = Ln(1.0 + ratio * ratio);
    mu_ = Ln(mean) - 0.5 * variance;
    sigma_ = std::sqrt(variance);
  }
  double Draw(RandomStream& random) const override { return Exp(mu_ + sigma_ * random.Normal()); }
  double shortest() const override { return 1.0; }

 private:
  double mu_ = 0, sigma_ = 0;
};

class TableLength : public LengthSource {
 public:
  TableLength(std::vector<double> percentiles, std::vector<double> lengths)
      : percentiles_(std::move(percentiles)), lengths_(std::move(lengths)) {}
  double Draw(RandomStream& random) const override {
    const double p = 100.0 * random.Uniform();
    // The interval [percentiles[i], percentiles[i + 1]) that holds p; p is below 100, the last
    // point.
    const auto above = std::upper_bound(percentiles_.begin(), percentiles_.end() - 1, p);
    const size_t i = static_cast<size_t>(above - percentiles_.begin()) - 1;
    const double share = (p - percentiles_[i]) / (percentiles_[i + 1] - percentiles_[i]);
    return lengths_[i] + share * (lengths_[i + 1] - lengths_[i]);
  }
  double shortest() const override { return lengths_.front(); }

 private:
  std::vector<double> percentiles_, lengths_;
};

/// "16-512" -> {16, 512}; "128" -> {128, 128}.
std::unique_ptr<LengthSource> ParseUniform(SpecString& spec, std::string_view key) {
  const std::optional<std::string> text = spec.Take(key);
  if (!text) {
    spec.Fail(fmt::format("{} is missing; add :{}=FIRST-LAST", key, key));
  }
  const size_t dash = text->find('-');
  const std::optional<int64_t> first = ParseInteger(text->substr(0, dash));
  const std::optional<int64_t> last =
      dash == std::string::npos ? first : ParseInteger(text->substr(dash + 1));
  if (!first || !last || *first < 1 || *last < *first || *last > kMaxTokens) {
    spec.Fail(
        fmt::format("{} is not a range such as 16-512, from 1 to at most {}", key, kMaxTokens));
  }
  return std::make_unique<UniformLength>(*first, *last);
}

std::unique_ptr<LengthSource> ParseFixed(SpecString& spec, std::string_view key) {
  const int64_t tokens = spec.TakeInteger(key, 1, kMaxTokens);
  return std::make_unique<UniformLength>(tokens, tokens);
}

std::unique_ptr<LengthSource> ParseLognormal(SpecString& spec, std::string_view side) {
  const auto most = static_cast<double>(kMaxTokens);
  const double mean = spec.TakeNumber(fmt::format("{}_mean", side), 1e-3, most);
  const double sd = spec.TakeNumber(fmt::format("{}_sd", side), 0.0, most);
  return std::make_unique<LognormalLength>(mean, sd);
}

nlohmann::json LoadTables() { return ParseJson(EmbeddedData("data/lengths.json")).at("tables"); }

/// The nearest whole number, a half going up.
double RoundHalfUp(double x) { return std::floor(x + 0.5); }

}  // namespace

struct LengthDistribution::Impl {
  std::unique_ptr<const LengthSource> prompt, output;
  /// Instead of `output`: (prompts up to so many tokens, their outputs), ascending.
  std::vector<std::pair<double, TableLength>> output_by_prompt;
  double scale = 1.0;
  int64_t cap = 0;  ///< at full scale, 0: none
  int64_t scaled_cap = 0;
  bool redraw = false;

  double DrawOutput(double prompt_length, RandomStream& random) const;
  /// Both lengths at full scale, with the cap kept to.
  std::pair<double, double> DrawCapped(RandomStream& random) const;
};

LengthDistribution::LengthDistribution(std::string_view spec_text) : spec_(spec_text) {
  SpecString spec(spec_text, "--lengths");
  auto impl = std::make_unique<Impl>();
  int64_t own_cap = 0;
  std::string own_over = "clip";
  const std::string& name = spec.name();
  if (name == "fixed") {
    impl->prompt = ParseFixed(spec, "prompt");
    impl->output = ParseFixed(spec, "output");
  } else if (name == "uniform") {
    impl->prompt = ParseUniform(spec, "prompt");
    impl->output = ParseUniform(spec, "output");
  } else if (name == "lognormal") {
    impl->prompt = ParseLognormal(spec, "prompt");
    impl->output = ParseLognormal(spec, "output");
  } else {
    const nlohmann::json tables = LoadTables();
    const auto table = std::find_if(tables.begin(), tables.end(),
                                    [&](const auto& t) { return t.at("name") == name; });
    if (table == tables.end()) {
      spec.Fail(
          fmt::format("there are no such lengths; choose fixed, uniform, lognormal or one of {}",
                      fmt::join(LengthTableNames(), ", ")));
    }
    const auto percentiles = table->at("percentiles").get<std::vector<double>>();
    impl->prompt =
        std::make_unique<TableLength>(percentiles, table->at("prompt").get<std::vector<double>>());
    if (table->contains("output_by_prompt")) {
      for (const auto& part : table->at("output_by_prompt")) {
        impl->output_by_prompt.emplace_back(
            part.at("up_to").get<double>(),
            TableLength(percentiles, part.at("output").get<std::vector<double>>()));
      }
    } else {
      impl->output = std::make_unique<TableLength>(percentiles,
                                                   table->at("output").get<std::vector<double>>());
    }
    own_cap = table->at("cap").get<int64_t>();
    own_over = table->at("over").get<std::string>();
  }
  impl->scale = spec.TakeNumber("scale", 1e-6, 1e6, 1.0);
  impl->cap = spec.TakeInteger("cap", 0, 2 * kMaxTokens, own_cap);
  const std::string over = spec.Take("over").value_or(own_over);
  spec.Finish();
  if (over != "clip" && over != "redraw") {
    spec.Fail("over is neither clip nor redraw");
  }
  impl->redraw = over == "redraw";
  if (impl->cap > 0) {
    // The small term keeps 100 * 0.29 at 29, which is 28.999999999999996 in floating point.
    impl->scaled_cap =
        static_cast<int64_t>(std::floor(static_cast<double>(impl->cap) * impl->scale + 1e-9));
    if (impl->scaled_cap < 2) {
      spec.Fail(
          fmt::format("cap times scale is {}; a request has at least 2 tokens, one of prompt "
                      "and one of output",
                      impl->scaled_cap));
    }
    const double shortest_output = impl->output ? impl->output->shortest() : 1.0;
    if (impl->redraw &&
        impl->prompt->shortest() + shortest_output > static_cast<double>(impl->cap)) {
      spec.Fail("even the shortest request passes the cap; raise it or use over=clip");
    }
  }
  impl_ = std::move(impl);
}

LengthDistribution::~LengthDistribution() = default;
LengthDistribution::LengthDistribution(LengthDistribution&&) noexcept = default;
LengthDistribution& LengthDistribution::operator=(LengthDistribution&&) noexcept = default;

double LengthDistribution::Impl::DrawOutput(double prompt_length, RandomStream& random) const {
  if (output) {
    return output->Draw(random);
  }
  const auto part = std::find_if(output_by_prompt.begin(), output_by_prompt.end() - 1,
                                 [&](const auto& p) { return prompt_length <= p.first; });
  return part->second.Draw(random);
}

std::pair<double, double> LengthDistribution::Impl::DrawCapped(RandomStream& random) const {
  constexpr int kMostDraws = 100'000;
  const auto most = static_cast<double>(cap);
  double p = 0;
  double o = 0;
  for (int draw = 0; draw < kMostDraws; ++draw) {
    p = std::max(1.0, prompt->Draw(random));
    o = std::max(1.0, DrawOutput(p, random));
    if (cap == 0 || p + o <= most) {
      return {p, o};
    }
    if (!redraw) {
      p = std::min(p, most - 1.0);
      return {p, std::min(o, most - p)};
    }
  }
  return {-1.0, -1.0};
}

LengthPair LengthDistribution::Draw(RandomStream& random) const {
  const auto [p, o] = impl_->DrawCapped(random);
  if (p < 0.0) {
    SpecString(spec_, "--lengths")
        .Fail("100000 draws in a row passed the cap; raise it or use over=clip");
  }
  const double prompt = std::max(1.0, RoundHalfUp(p * impl_->scale));
  const double output = std::max(1.0, RoundHalfUp(o * impl_->scale));
  if (prompt > static_cast<double>(kMaxTokens) || output > static_cast<double>(kMaxTokens)) {
    SpecString(spec_, "--lengths")
        .Fail(fmt::format("a length of more than {} tokens was drawn; give a cap", kMaxTokens));
  }
  LengthPair lengths{static_cast<int64_t>(prompt), static_cast<int64_t>(output)};
  if (impl_->cap > 0) {
    lengths.prompt = std::min(lengths.prompt, impl_->scaled_cap - 1);
    lengths.output = std::min(lengths.output, impl_->scaled_cap - lengths.prompt);
  }
  return lengths;
}

std::vector<std::string> LengthTableNames() {
  std::vector<std::string> names;
  for (const auto& table : LoadTables()) {
    names.push_back(table.at("name").get<std::string>());
  }
  return names;
}

}  // namespace kvbench
