#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "workloads/traces/request.h"

namespace kvbench {

/// When requests arrive, from a spec string:
///   poisson        exponential gaps
///   gamma:cv=2     gamma gaps with that coefficient of variation (1 is Poisson, above it bursts)
///   constant       equal gaps
///   all-at-once    every request at time 0
///   file           as the trace file says; file:speed=2 replays it twice as fast
struct ArrivalSpec {
  enum class Kind { kPoisson, kGamma, kConstant, kAllAtOnce, kFile };
  Kind kind = Kind::kFile;
  double cv = 1.0;     ///< gamma: standard deviation / mean of the gaps
  double speed = 1.0;  ///< file: times are divided by it
};

/// Throws Error naming what is wrong with the spec and what it may be.
ArrivalSpec ParseArrivals(std::string_view spec);

/// Arrival times in ns, one after another, at `rate` requests/s (infinity: all at once). A gap
/// comes before every request, the first one too, so that request n arrives near n / rate. Gaps are
/// drawn with mean 1, summed, and the sums divided by the rate: no rounding adds up, and another
/// rate only stretches the same pattern.
class ArrivalStream {
 public:
  /// Throws Error for a rate that is not positive (all-at-once needs none), and for kFile.
  ArrivalStream(const ArrivalSpec& spec, double rate, int64_t seed);

  /// Throws Error past kMaxArrivalNs.
  int64_t Next();

 private:
  ArrivalSpec spec_;
  double rate_;
  bool at_once_;
  RandomStream random_;
  double gaps_ = 0.0;
};

/// The first `count` times of an ArrivalStream.
std::vector<int64_t> GenerateArrivals(const ArrivalSpec& spec, double rate, int64_t count,
                                      int64_t seed);

/// Divides all arrival times by `speed` > 0, rounding half up to whole ns.
void ApplySpeed(Trace& trace, double speed);

/// Puts the arrivals of a spec onto a trace that was read: `--trace FILE --arrivals poisson --rate
/// 2`. "" and "file" keep those of the file. Where arrivals are generated, sets request_rate and
/// seed, and source says so. Throws Error for a trace without arrivals where the spec wants the
/// file's.
void PutArrivals(Trace& trace, std::string_view spec, double rate, int64_t seed);

}  // namespace kvbench
