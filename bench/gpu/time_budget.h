#pragma once

#include <algorithm>
#include <functional>
#include <utility>

namespace kvbench::gpu {

/// Says when to stop, so that what was begun ends in time.
class TimeBudget {
 public:
  /// @param seconds from now on; 0: no end. @param now seconds since some moment. @param
  /// interrupted says that somebody wants an end
  TimeBudget(double seconds, std::function<double()> now, std::function<bool()> interrupted = {})
      : seconds_(seconds), now_(std::move(now)), interrupted_(std::move(interrupted)) {
    begin_ = last_ = now_();
  }

  /// Before each piece of work: whether it may begin. One as long as the longest until now has to
  /// fit.
  bool Next() {
    const double now = now_();
    longest_ = std::max(longest_, now - std::exchange(last_, now));
    cut_ = cut_ || (interrupted_ && interrupted_()) ||
           (seconds_ > 0 && now - begin_ + longest_ > seconds_);
    return !cut_;
  }
  /// Whether Next ever said no.
  bool cut() const { return cut_; }
  double elapsed() const { return now_() - begin_; }
  double seconds() const { return seconds_; }

 private:
  double seconds_;
  std::function<double()> now_;
  std::function<bool()> interrupted_;
  double begin_ = 0;
  double last_ = 0;
  double longest_ = 0;
  bool cut_ = false;
};

}  // namespace kvbench::gpu
