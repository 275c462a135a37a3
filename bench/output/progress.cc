#include "bench/output/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace kvbench {

namespace {

constexpr std::chrono::milliseconds kRedraw{200};
/// A modelled step takes less time than reading a clock: only every so many calls look at it.
constexpr int64_t kLookAfterCalls = 64;

double Seconds(int64_t clock_ps) { return static_cast<double>(clock_ps) / 1e12; }

double TokensPerSecond(const EngineProgress& progress) {
  return progress.clock_ps > 0
             ? static_cast<double>(progress.generated) / Seconds(progress.clock_ps)
             : 0;
}

/// "93 s", "12 min", "6.0 days" of the run's clock.
std::string ClockText(int64_t clock_ps) {
  const double seconds = Seconds(clock_ps);
  if (seconds < 600) {
    return fmt::format("{:.0f} s", seconds);
  }
  if (seconds < 36'000) {
    return fmt::format("{:.0f} min", seconds / 60);
  }
  return seconds < 172'800 ? fmt::format("{:.0f} h", seconds / 3600)
                           : fmt::format("{:.1f} days", seconds / 86'400);
}

}  // namespace

Progress::Progress(int64_t num_runs) : terminal_(isatty(STDERR_FILENO) != 0), num_runs_(num_runs) {}

Progress::Run::Run(Progress& progress, std::string title, int64_t requests, int64_t output_tokens)
    : progress_(progress),
      title_(std::move(title)),
      requests_(requests),
      output_tokens_(output_tokens),
      begin_(Clock::now()) {}

Progress::Run Progress::Begin(const std::string& title, int64_t requests, int64_t output_tokens) {
  const std::scoped_lock lock(mutex_);
  if (terminal_) {
    fmt::print(stderr, "\r\033[K[{}/{}] {}: preparing", ended_ + 1, num_runs_, title);
    std::fflush(stderr);
  }
  return Run(*this, title, requests, output_tokens);
}

void Progress::Run::OnStep(const EngineProgress& progress) {
  last_ = progress;
  if (!progress_.terminal_ || (output_tokens_ == 0 && ++calls_ % kLookAfterCalls != 0)) {
    return;
  }
  const Clock::time_point now = Clock::now();
  if (now - drawn_ >= kRedraw) {
    drawn_ = now;
    progress_.Draw(*this);
  }
}

void Progress::Again(const std::string& title, const std::string& why) {
  const std::scoped_lock lock(mutex_);
  --ended_;
  fmt::print(stderr, "{}: {}: once more\n", title, why);
}

void Progress::Draw(Run& run) {
  const EngineProgress& now = run.last_;
  std::string left;
  if (now.generated > 0 && run.output_tokens_ > 0) {
    const double elapsed = std::chrono::duration<double>(run.drawn_ - run.begin_).count();
    const double remaining = elapsed * static_cast<double>(run.output_tokens_ - now.generated) /
                             static_cast<double>(now.generated);
    left = fmt::format(", {:.0f} s left", remaining > 0 ? remaining : 0);
  }
  std::string in_use;
  if (now.usage.capacity() > 0) {
    in_use =
        fmt::format(", {:.0f} % of KV in use", 100 * static_cast<double>(now.usage.allocated()) /
                                                   static_cast<double>(now.usage.capacity()));
  }
  const std::string of = run.requests_ > 0 ? fmt::format("/{}", run.requests_) : "";
  const std::scoped_lock lock(mutex_);
  fmt::print(stderr, "\r\033[K[{}/{}] {}: {}{} requests, clock {}, {:.0f} tokens/s{}{}", ended_ + 1,
             num_runs_, run.title_, now.done, of, ClockText(now.clock_ps), TokensPerSecond(now),
             in_use, left);
  std::fflush(stderr);
}

void Progress::Run::End() {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const std::scoped_lock lock(progress_.mutex_);
  ++progress_.ended_;
  fmt::print(stderr, "{}[{}/{}] {}: {} requests, {:.0f} output tokens/s over {}, took {:.1f} s\n",
             progress_.terminal_ ? "\r\033[K" : "", progress_.ended_, progress_.num_runs_, title_,
             last_.done, TokensPerSecond(last_), ClockText(last_.clock_ps), seconds);
}

}  // namespace kvbench
