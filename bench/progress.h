#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "bench/engine/engine.h"

namespace kvbench {

/// What stderr shows while runs go on: on a terminal one line that is rewritten a few times a
/// second, and everywhere one line for each run that ended.
class Progress {
 public:
  explicit Progress(int64_t num_runs);

  /// A run begins; `title` says which, in a few words.
  void BeginRun(const std::string& title, int64_t requests, int64_t output_tokens);
  void OnStep(const EngineProgress& progress);
  void EndRun();

 private:
  using Clock = std::chrono::steady_clock;

  void Draw(const EngineProgress& progress);

  bool terminal_;
  int64_t num_runs_;
  int64_t run_ = 0;
  std::string title_;
  int64_t requests_ = 0;
  int64_t output_tokens_ = 0;
  Clock::time_point begin_;
  Clock::time_point drawn_;
  EngineProgress last_;
};

}  // namespace kvbench
