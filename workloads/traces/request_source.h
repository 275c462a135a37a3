#pragma once

#include <cstddef>
#include <utility>

#include "workloads/traces/request.h"

namespace kvbench {

/// Requests one after another in arrival order, so that a trace of millions need not be held.
class RequestSource {
 public:
  virtual ~RequestSource() = default;

  /// The next request; false after the last.
  virtual bool Next(Request& request) = 0;
};

/// The requests of a trace that is held and outlives the source.
class TraceSource final : public RequestSource {
 public:
  explicit TraceSource(const Trace& trace) : trace_(trace) {}

  bool Next(Request& request) override {
    if (next_ == trace_.requests.size()) {
      return false;
    }
    request = trace_.requests[next_++];
    return true;
  }

 private:
  const Trace& trace_;
  size_t next_ = 0;
};

}  // namespace kvbench
