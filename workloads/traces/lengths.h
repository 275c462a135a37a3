#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace kvbench {

/// Tokens of a request: P and O, both at least 1.
struct LengthPair {
  int64_t prompt = 0;
  int64_t output = 0;
};

/// A distribution of request lengths, from a spec string (colon separated, key=value):
///   fixed:prompt=128:output=64
///   uniform:prompt=16-512:output=1-256            whole numbers, both ends included
///   lognormal:prompt_mean=161:prompt_sd=300:output_mean=338:output_sd=284
///   sharegpt | sharegpt-pairs | alpaca | azure-conv | azure-code | arxiv     quantile tables of
///   workloads/data/lengths.json
/// each with optional
///   :scale=0.25   lengths times 0.25
///   :cap=2048     prompt + output at most that (at full scale); 0: none. Some tables have a cap of
///   their own :over=clip    what happens past the cap: the output is cut to cap - prompt (the
///   prompt to cap - 1 first), or :over=redraw  both lengths are drawn again (this lowers the
///   means)
/// Prompt and output are independent, except in sharegpt-pairs. A table is interpolated linearly
/// between its points. The order is: draw, cap at full scale, scale, round half up, at least 1, sum
/// at most floor(cap * scale).
class LengthDistribution {
 public:
  /// Throws Error naming what is wrong with the spec and what it may be.
  explicit LengthDistribution(std::string_view spec);
  ~LengthDistribution();
  LengthDistribution(LengthDistribution&&) noexcept;
  LengthDistribution& operator=(LengthDistribution&&) noexcept;

  /// Throws Error where a drawn length passes kMaxTokens, or redrawing never gets below the cap.
  LengthPair Draw(RandomStream& random) const;

  const std::string& spec() const { return spec_; }

 private:
  struct Impl;
  std::string spec_;
  std::unique_ptr<const Impl> impl_;
};

/// The names of the built-in quantile tables.
std::vector<std::string> LengthTableNames();

}  // namespace kvbench
