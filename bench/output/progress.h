#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "bench/engine/engine.h"

namespace kvbench {

/// What stderr shows while runs go on: on a terminal one line that is rewritten a few times a
/// second, and everywhere one line for each run that ended. Runs may go on in several threads.
class Progress {
 public:
  explicit Progress(int64_t num_runs);

  /// One run that goes on.
  class Run {
   public:
    /// What it is called from now on.
    void Rename(std::string title) { title_ = std::move(title); }
    void OnStep(const EngineProgress& progress);
    void End();

   private:
    friend class Progress;
    using Clock = std::chrono::steady_clock;

    Run(Progress& progress, std::string title, int64_t requests, int64_t output_tokens);

    Progress& progress_;
    std::string title_;
    int64_t requests_;
    int64_t output_tokens_;
    Clock::time_point begin_;
    Clock::time_point drawn_{};
    int64_t calls_ = 0;
    EngineProgress last_;
  };

  /// A run begins; `title` says which, in a few words. `requests` and `output_tokens` are 0 where
  /// they are not known beforehand.
  Run Begin(const std::string& title, int64_t requests, int64_t output_tokens);

  /// The run that ended last does not count and is done again, because of that.
  void Again(const std::string& title, const std::string& why);

 private:
  void Draw(Run& run);

  bool terminal_;
  int64_t num_runs_;
  std::mutex mutex_;
  int64_t ended_ = 0;
};

}  // namespace kvbench
