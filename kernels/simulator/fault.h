#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace kvbench {

/// A place in a kernel's source.
struct Site {
  const char* file = "";
  int line = 0;
  Site() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): default arguments say where they are called.
  Site(const std::source_location& where)
      : file(where.file_name()), line(static_cast<int>(where.line())) {}
  bool operator==(const Site&) const = default;
};

/// "kernels/cuda/x.h:12", without what stands before the repository's folder.
std::string ToString(const Site& site);

/// What a kernel did wrong on the simulator: what() names it with file and line, thread and CTA.
class SimulatorFault : public std::runtime_error {
 public:
  enum class Kind {
    kOutOfBounds,
    kMisaligned,
    kUninitialised,  ///< read of shared memory that nobody has written
    kCopyNotWaited,  ///< read of shared memory under an asynchronous copy
    kRace,           ///< two threads at one word, one of them writing, without a barrier between
    kDivergence,     ///< threads wait for each other at different barriers or collectives
    kInactiveLane,   ///< a collective names a lane that does not take part
  };
  SimulatorFault(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace kvbench
