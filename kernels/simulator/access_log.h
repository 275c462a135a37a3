#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/simulator/fault.h"

namespace kvbench {

/// What memory accesses of a launch cost, by their place in the source. A request is one execution
/// of one place by one warp.
class AccessLog {
 public:
  enum class Kind { kGlobalLoad, kGlobalStore, kSharedLoad, kSharedStore };
  struct Place {
    Kind kind = Kind::kGlobalLoad;
    std::string site;
    int64_t requests = 0;
    int64_t bytes = 0;  ///< asked for, lane by lane
    /// Global: 32-byte sectors touched, and how many the distinct bytes would need at least.
    /// Shared: passes over the 32 banks, and how many the bytes would need without conflicts.
    int64_t units = 0;
    int64_t ideal_units = 0;
    int64_t wasted() const { return units - ideal_units; }
  };

  /// One lane's part of a request; `turn` counts that lane's executions of the place.
  void Add(Kind kind, const Site& site, int warp, int lane, int64_t turn, uintptr_t address,
           uint32_t bytes);
  /// A CTA has ended: its requests are complete.
  void EndCta();

  std::vector<Place> places() const;
  /// Bytes of all accesses of a kind whose address lies in [begin, begin + bytes).
  int64_t BytesIn(Kind kind, const void* begin, size_t bytes) const;
  void Clear();

 private:
  struct Access {
    int lane = 0;
    uintptr_t address = 0;
    uint32_t bytes = 0;
  };
  struct RequestKey {
    int place = 0;
    int warp = 0;
    int64_t turn = 0;
    auto operator<=>(const RequestKey&) const = default;
  };

  std::map<std::tuple<const char*, int, Kind>, int> index_;  // (file, line, kind) -> place
  std::vector<Place> places_;
  std::map<RequestKey, std::vector<Access>> open_;
  std::map<std::pair<uintptr_t, int>, int64_t> bytes_at_;  // (address, kind) -> bytes
};

}  // namespace kvbench
