#pragma once

namespace kvbench {

/// While one exists, Ctrl-C (SIGINT) and SIGTERM do not end the program but are remembered; a
/// second one ends it.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool interrupted() const;
};

}  // namespace kvbench
