#include "bench/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace kvbench {

namespace {
constexpr std::chrono::milliseconds kRedraw{200};

double TokensPerSecond(const EngineProgress& progress) {
  return progress.clock_ps > 0 ? static_cast<double>(progress.generated) /
                                     (static_cast<double>(progress.clock_ps) / 1e12)
                               : 0;
}
}  // namespace

Progress::Progress(int64_t num_runs) : terminal_(isatty(STDERR_FILENO) != 0), num_runs_(num_runs) {}

void Progress::BeginRun(const std::string& title, int64_t requests, int64_t output_tokens) {
  ++run_;
  title_ = title;
  requests_ = requests;
  output_tokens_ = output_tokens;
  begin_ = Clock::now();
  drawn_ = {};
  last_ = {};
  if (terminal_) {
    fmt::print(stderr, "\r\033[K[{}/{}] {}: preparing", run_, num_runs_, title_);
    std::fflush(stderr);
  }
}

void Progress::OnStep(const EngineProgress& progress) {
  last_ = progress;
  if (!terminal_) {
    return;
  }
  const Clock::time_point now = Clock::now();
  if (now - drawn_ >= kRedraw) {
    drawn_ = now;
    Draw(progress);
  }
}

void Progress::Draw(const EngineProgress& progress) {
  std::string left;
  if (progress.generated > 0) {
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
    const double remaining = elapsed * static_cast<double>(output_tokens_ - progress.generated) /
                             static_cast<double>(progress.generated);
    left = fmt::format(", {:.0f} s left", remaining > 0 ? remaining : 0);
  }
  const double allocated = static_cast<double>(progress.usage.allocated()) /
                           static_cast<double>(progress.usage.capacity());
  fmt::print(stderr, "\r\033[K[{}/{}] {}: {}/{} requests, {:.0f} tokens/s, {:.0f} % of KV in use{}",
             run_, num_runs_, title_, progress.done, requests_, TokensPerSecond(progress),
             100 * allocated, left);
  std::fflush(stderr);
}

void Progress::EndRun() {
  fmt::print(stderr, "{}[{}/{}] {}: {} requests, {:.0f} output tokens/s, {:.1f} s\n",
             terminal_ ? "\r\033[K" : "", run_, num_runs_, title_, last_.done,
             TokensPerSecond(last_), std::chrono::duration<double>(Clock::now() - begin_).count());
}

}  // namespace kvbench
